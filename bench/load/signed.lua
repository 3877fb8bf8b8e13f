-- Sends GET requests whose signature fields stand ready in a file, a line each: NONCE DIGEST. Every one is sent once, so
-- that no nonce comes twice. Arguments after --: the file, the target, the user, the date.
local target, user, date, lines

function init(args)
  lines = io.open(args[1], "r")
  target, user, date = args[2], args[3], args[4]
end

function request()
  local line = lines:read("*l")
  if line == nil then
    wrk.thread:stop()
    return "GET " .. target .. " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
  end
  local nonce, digest = line:match("^(%S+) (%S+)$")
  return "GET " .. target .. " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthentication: hmac " .. user .. ":" .. nonce .. ":"
    .. digest .. "\r\nDate: " .. date .. "\r\n\r\n"
end

-- Sends requests that stand ready in a file, a line each: TARGET, and for one that is signed the value of Authentication
-- after a blank. Signed ones are sent once, so that no nonce comes twice; the others over and over. Arguments after --:
-- the file, the method, the date; for a method with a body its type and the body.
local lines, method, date, type, body, path

function init(args)
  path, method, date, type, body = args[1], args[2], args[3], args[4], args[5]
  lines = io.open(path, "r")
end

function request()
  local line = lines:read("*l")
  if line == nil then
    lines:seek("set")
    line = lines:read("*l")
    -- A signature was used up: what is sent from here on would be refused.
    if line:find(" ", 1, true) then wrk.thread:stop() end
  end
  local target, signature = line:match("^(%S+) ?(.*)$")
  local head = method .. " " .. target .. " HTTP/1.1\r\nHost: 127.0.0.1\r\n"
  if signature ~= "" then head = head .. "Authentication: " .. signature .. "\r\nDate: " .. date .. "\r\n" end
  if body == nil then return head .. "\r\n" end
  return head .. "Content-Type: " .. type .. "\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

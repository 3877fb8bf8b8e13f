-- Sends requests that stand ready in a file: a line with the number of bytes, and the bytes. Arguments after --: the file,
-- and "once" where each may be sent only once. Ends with a line of JSON.
local file, once, only

function init(args)
  file, once = io.open(args[1], "rb"), args[2] == "once"
  if once then return end
  only = next_request()
  -- A single one need not be read again and again.
  if next_request() then only = nil end
  file:seek("set")
end

function next_request()
  local size = file:read("*l")
  if size == nil then return nil end
  return file:read(tonumber(size))
end

function request()
  if only then return only end
  local found = next_request()
  if found then return found end
  if not once then
    file:seek("set")
    return next_request()
  end
  -- All that was signed is used up: what is sent from here on would be refused.
  wrk.thread:stop()
  return "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
end

function done(summary, latency, requests)
  io.write(string.format('{"count":%d,"us":%d,"status":%d,"lost":%d,"p50":%d,"p99":%d,"p999":%d}\n', summary.requests,
    summary.duration, summary.errors.status, summary.errors.connect + summary.errors.read + summary.errors.write,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end

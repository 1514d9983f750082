-- What every network's file finds: the functions of Lua that a file may use, and cells.
-- The C++ code calls this with its own functions, and gives the file the table that is returned as its global variables.
local own = ...
local next, type, error, sort, setmetatable = next, type, error, table.sort, setmetatable

local globals = {
  assert = assert, error = error, ipairs = ipairs, select = select, tonumber = tonumber, type = type,
  math = {abs = math.abs, ceil = math.ceil, floor = math.floor, max = math.max, min = math.min, sqrt = math.sqrt,
          exp = math.exp, log = math.log, pi = math.pi, huge = math.huge, tointeger = math.tointeger, fmod = math.fmod},
  string = {sub = string.sub, len = string.len, upper = string.upper, lower = string.lower, reverse = string.reverse,
            byte = string.byte},
  table = {concat = table.concat, unpack = table.unpack},
}

-- The order of keys in a table changes from one start of Lua to the next.
local function keys_in_order(t)
  local keys = {}
  for key in next, t do
    if type(key) ~= "number" and type(key) ~= "string" then error("pairs: keys must be numbers or words", 3) end
    keys[#keys + 1] = key
  end
  sort(keys, function(a, b)
    if type(a) == type(b) then return a < b end
    return type(a) == "number"
  end)
  return keys
end

function globals.pairs(t)
  if type(t) ~= "table" then error("pairs: it needs a table", 2) end
  local keys, i = keys_in_order(t), 0
  return function()
    i = i + 1
    if keys[i] ~= nil then return keys[i], t[keys[i]] end
  end
end

function globals.table.insert(t, value)
  t[#t + 1] = value
end

function globals.tostring(value)
  local kind = type(value)
  if kind == "string" or kind == "number" then return value .. "" end
  if kind == "boolean" then return value and "true" or "false" end
  return kind == "userdata" and own.describe(value) or kind
end

function globals.print(...)
  local texts = {...}
  for i = 1, select("#", ...) do texts[i] = globals.tostring(texts[i]) end
  own.print(table.concat(texts, " "))
end

local format, find, rep, unpack = string.format, string.find, string.rep, table.unpack
function globals.string.format(form, ...)
  local given, count = {...}, select("#", ...)
  for i = 1, count do
    local kind = type(given[i])
    if kind == "userdata" then
      given[i] = own.describe(given[i])
    elseif kind ~= "string" and kind ~= "number" then
      error("format: it needs numbers and texts, not a " .. kind, 2)
    end
  end
  if find(form, "%%[^%a]*p") then error("format: %p is not possible: addresses change from run to run", 2) end
  return format(form, unpack(given, 1, count))
end

function globals.string.rep(text, count, separator)
  separator = separator or ""
  if (#text + #separator) * count > 1000000 then error("rep: the text would have more than a million characters", 2) end
  return rep(text, count, separator)
end

-- ("text"):format(...) finds the same functions.
own.set_string_methods(globals.string)

function globals.normal(stddev) return {"normal", stddev} end
function globals.uniform(bound) return {"uniform", bound} end
function globals.constant(value) return {"constant", value} end

-- cell(name, [{prefix = ...},] function(x) ... end, x)
function globals.cell(name, options, body, x)
  if type(options) == "function" then options, body, x = {}, options, body end
  if type(name) ~= "string" then error("cell: the first argument is its name", 2) end
  if type(options) ~= "table" or type(body) ~= "function" then
    error("cell '" .. name .. "': after its name comes the function that builds it", 2)
  end
  for key in next, options do
    if key ~= "prefix" then error("cell '" .. name .. "': its only option is prefix", 2) end
  end
  local prefix = options.prefix or name .. "."
  return own.end_cell(body(own.begin_cell(name, prefix, x, body)))
end

for key, value in next, own.globals do globals[key] = value end
setmetatable(globals.input, {__index = function(input, key)
  local has = {images = "height, width and channels, as the data hold images",
               text = "length and vocabulary, as the data hold texts",
               arrays = "names, as the data hold arrays, and height, width, channels and length if there is one array"}
  error("input has no '" .. globals.tostring(key) .. "': it has " .. has[input.kind], 2)
end})
-- A misspelt name is an error, with the nearest right one.
return setmetatable(globals, {__index = own.unknown_global})

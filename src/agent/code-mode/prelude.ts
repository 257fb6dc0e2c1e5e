/**
 * The script's side of `tools`, in the language of the engine. It is evaluated before the script, and keeps hold of the
 * built-ins it needs: a script that replaces `JSON.stringify` or `Promise.prototype.then` fools only itself.
 *
 * `host` holds the only ways out. They take and give JSON text, because the engine ends a plain string at U+0000 on its
 * way out; `host.call` gives a promise of the engine's own. No script ever holds `host`.
 *
 * What is not JSON is refused, never changed silently: `undefined` members are left out and `toJSON` is honoured, as
 * everybody expects of JSON; all else that `JSON.stringify` would drop or replace is an error.
 *
 * base-protocol section 7.
 */
import { EXCEPTION_CHARACTERS, STACK_CHARACTERS } from "./CodeModeLimits.ts"

export const prelude = `(function (host) {
"use strict"
const { parse, stringify } = JSON
const { isArray } = Array
const { isFinite } = Number
const { apply } = Reflect
const { defineProperty, freeze } = Object
const sourceOf = Function.prototype.toString
const slice = String.prototype.slice
const toText = String
const Fault = TypeError
const Buffer_ = ArrayBuffer
const opaque = [
  [Promise, "a promise: await it first"],
  [Map, "a Map: JSON has none"],
  [Set, "a Set: JSON has none"],
  [Error, "an Error: give its message instead"]
]
freeze(opaque)

const refuse = (key, what) => {
  const place = key === "" ? "the value" : "the member " + stringify(apply(slice, toText(key), [0, 80]))
  throw new Fault(place + " is " + what)
}

function check(key, value) {
  switch (typeof value) {
    case "bigint": return refuse(key, "a BigInt: JSON has none")
    case "function": return refuse(key, "a function: JSON has none")
    case "symbol": return refuse(key, "a symbol: JSON has none")
    case "number": return isFinite(value) ? value : refuse(key, "NaN or infinite: JSON has no such number")
    case "undefined": return isArray(this) ? refuse(key, "undefined inside an array: JSON has none") : value
  }
  if (typeof value === "object" && value !== null) {
    for (let i = 0; i < opaque.length; i++) if (value instanceof opaque[i][0]) return refuse(key, opaque[i][1])
  }
  return value
}

const encode = (value) => stringify(value, check)

const text = (value, what) => {
  if (typeof value !== "string") throw new Fault(what + " must be a string")
  return stringify(value)
}

const tools = freeze({
  list() { return parse(host.list()) },
  search(query) { return parse(host.search(text(query, "the query of tools.search"))) },
  describe(name) { return parse(host.describe(text(name, "the name of tools.describe"))) },
  budget() { return parse(host.budget()) },
  call(name, args) {
    let json
    try { json = encode(args === undefined ? {} : args) } catch {}
    return host.call(typeof name === "string" ? stringify(name) : undefined, json)
  }
})

// Given up when an exception is told, so that there is room to tell of a full heap.
let reserve = new Buffer_(65536)

const explain = (error) => {
  reserve = undefined
  let told
  let stack = ""
  try {
    if ((typeof error === "object" && error !== null) || typeof error === "function") {
      const name = error.name
      const message = error.message
      if (typeof error.stack === "string") stack = apply(slice, error.stack, [0, ${STACK_CHARACTERS}])
      if (typeof message !== "string") told = encode(error)
      else {
        told = apply(slice, message, [0, ${EXCEPTION_CHARACTERS}])
        if (typeof name === "string" && name !== "") told = apply(slice, name, [0, 80]) + (told === "" ? "" : ": " + told)
      }
    } else told = toText(error)
    if (typeof told === "string") told = apply(slice, told, [0, ${EXCEPTION_CHARACTERS}])
  } catch {}
  return stringify([typeof told === "string" && told !== "" ? told : "a value that cannot be shown", stack])
}

return {
  encode,
  explain,
  parse,
  source: (f) => (typeof f === "function" ? stringify(apply(sourceOf, f, [])) : ""),
  fits: (bytes) => new Buffer_(bytes).byteLength === bytes,
  install: () => {
    defineProperty(globalThis, "tools", { value: tools, writable: true, enumerable: false, configurable: true })
  }
}
})`

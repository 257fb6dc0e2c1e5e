#!/usr/bin/env node
/**
 * The binary. This file alone must run on any Node: it says in one line when the Node is too old, and loads the rest only
 * then. `serve` has a bundle of its own, so that a spawned agent starts fast.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `magi-code needs Node 22.19 or newer; this is ${process.versions.node}; start it with a newer one\n`
  )
  process.exit(1)
}
// The two bundles are built beside this file; their names are not known to the compiler.
const [command, ...rest] = process.argv.slice(2)
const help = rest.length === 1 && (rest[0] === "--help" || rest[0] === "-h")
const bundle = command === "serve" && !help ? "./serve.js" : "./main.js"
import(bundle)

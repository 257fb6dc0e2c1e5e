/** Every command but `serve`. Each is loaded when it is asked for. product section 1. */
const [command, ...args] = process.argv.slice(2)

switch (command) {
  case "run": {
    const { main } = await import("./run/main.ts")
    await main(args)
    break
  }
  default:
    process.stderr.write("usage: magi-code serve --stdio | run [options] PROMPT\n")
    process.exitCode = 2
}

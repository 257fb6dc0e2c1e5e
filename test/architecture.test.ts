/** The direction of imports, as docs/architecture.md draws it. */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

const root = fileURLToPath(new URL("../src", import.meta.url))

/** What each folder may import from, beside itself. */
const allowed: Readonly<Record<string, ReadonlyArray<string>>> = {
  protocol: [],
  transport: ["protocol", "platform"],
  platform: ["protocol"],
  settings: ["protocol", "platform"],
  store: ["protocol", "platform"],
  broker: ["protocol", "transport", "platform", "settings"],
  tools: ["protocol", "transport", "platform", "settings", "broker"],
  agent: ["protocol", "transport", "platform", "settings", "store", "broker", "tools"],
  server: ["protocol", "transport", "platform", "settings", "store", "broker", "tools", "agent"],
  client: ["protocol", "transport", "platform"],
  testing: ["protocol", "transport", "platform", "settings", "store", "broker", "tools", "agent", "server", "client"],
  conformance: ["protocol", "transport", "platform", "client"],
  cli: [
    "protocol",
    "transport",
    "platform",
    "settings",
    "store",
    "broker",
    "tools",
    "agent",
    "server",
    "client",
    "testing",
    "conformance"
  ],
  "index.ts": ["client", "protocol", "platform"]
}

/** Single files that may be imported from where their folder may not: interfaces and streams. */
const exceptions: Readonly<Record<string, ReadonlyArray<string>>> = {
  broker: ["tools/Tool.ts"],
  platform: ["transport/NodeStreams.ts"]
}

const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))

const importsOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(join(root, file), "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, path = ""]) =>
    normalize(join(dirname(file), path)).replaceAll("\\", "/")
  )

const imports = new Map(files.map((file) => [file, importsOf(file)]))
const folderOf = (file: string): string => file.split("/")[0] ?? ""

describe("imports", () => {
  it("run in one direction", () => {
    const wrong = [...imports].flatMap(([file, targets]) => {
      const from = folderOf(file)
      return targets
        .filter((target) => {
          const to = folderOf(target)
          return to !== from && !allowed[from]?.includes(to) && !exceptions[from]?.includes(target)
        })
        .map((target) => `${file} -> ${target}`)
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("never go round in a circle", () => {
    const done = new Set<string>()
    const path: Array<string> = []
    const circles: Array<string> = []
    const visit = (file: string): void => {
      if (path.includes(file)) {
        circles.push([...path.slice(path.indexOf(file)), file].join(" -> "))
        return
      }
      if (done.has(file)) return
      path.push(file)
      for (const target of imports.get(file) ?? []) visit(target)
      path.pop()
      done.add(file)
    }
    for (const file of files) visit(file)
    assert.deepStrictEqual(circles, [])
  })

  it("of the protocol reach nothing that runs", () => {
    for (const file of files.filter((one) => folderOf(one) === "protocol")) {
      const outside = [...readFileSync(join(root, file), "utf8").matchAll(/from "([^."][^"]*)"/g)].map(
        ([, name]) => name
      )
      for (const name of outside) {
        assert.match(name ?? "", /^(?:effect\/Result|node:buffer|node:crypto)$/, file)
      }
    }
  })
})

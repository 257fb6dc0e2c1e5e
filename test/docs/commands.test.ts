/** README.md tells of every command and no other, of scripts that exist, and of settings that would be taken. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { commands } from "../../src/cli/help/commands.ts"
import { parseJson } from "../../src/protocol/index.ts"
import { decodeSettings } from "../../src/settings/decodeSettings.ts"
import { codeSpans, fences, pages, root } from "./pages.ts"

const readme = pages[0]?.text ?? ""

describe("README.md", () => {
  it("lists every command", () => {
    const told = readme
      .split("\n")
      .filter((line) => line.startsWith("| `magi-code "))
      .map((line) => codeSpans(line)[0]?.split(" ")[1])
    assert.deepStrictEqual(told.sort(), commands.map((one) => one.name).sort())
  })

  it("leads to every page", () => {
    for (const { path } of pages.filter(({ path }) => /^docs\/[^/]+$/.test(path))) assert.include(readme, `](${path})`)
  })

  it("shows settings that are taken", () => {
    const [text = ""] = fences(readme, "jsonc")
    const parsed = parseJson(text)
    if (Result.isFailure(parsed)) return assert.fail(parsed.failure.message)
    const decoded = decodeSettings(parsed.success, "$MC_HOME/settings.json")
    if (Result.isFailure(decoded)) assert.fail(decoded.failure.message)
  })
})

describe("every page", () => {
  it("names npm scripts that exist", () => {
    const manifest: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
      readFileSync(join(root, "package.json"), "utf8")
    )
    const known = new Set(["install", "ci", "view", "init", "pkg", "pack", ...Object.keys(manifest.scripts)])
    for (const page of pages) {
      const lines = [...codeSpans(page.text), ...fences(page.text, "sh").flatMap((text) => text.split("\n"))]
      for (const line of lines) {
        for (const [, name = ""] of line.matchAll(/\bnpm (?:run )?([a-z:]+)/g)) {
          assert.isTrue(known.has(name), `${page.path}: ${line}`)
        }
      }
    }
  })
})

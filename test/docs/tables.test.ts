/** The tables of the protocol's pages hold what the code has: every code, method, event, limit and keyword, and no other. */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import {
  ClientToolLimits,
  cancelReasons,
  canonical,
  decodeDescriptor,
  errorCodes,
  eventNames,
  fingerprint,
  isJsonObject,
  methodNames,
  parseJson,
  runFailureCodes,
  supportedKeywords,
  toolFailureCodes
} from "../../src/protocol/index.ts"
import { codeSpans, doc, fences, root } from "./pages.ts"

const protocol = doc("local-agent-protocol.md").text
const clientTools = doc("client-tools.md").text

/** A page from the heading that begins with `title` to the next one of the same level. */
const section = (text: string, title: string): string => {
  const [, after] = text.split(`\n## ${title}`)
  assert.isDefined(after, title)
  return after?.split("\n## ")[0] ?? ""
}

/** The code spans in the first cells of the tables. */
const firstCells = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .flatMap((line) => codeSpans(line.split("|")[1] ?? ""))

const sameNames = (found: ReadonlyArray<string>, wanted: ReadonlyArray<string>) =>
  assert.deepStrictEqual([...new Set(found)].sort(), [...wanted].sort())

describe("docs/local-agent-protocol.md", () => {
  it("lists every error code", () => sameNames(firstCells(section(protocol, "14. Error codes")), errorCodes))

  it("lists every event", () => sameNames(firstCells(section(protocol, "9. Events")), eventNames))

  it("tells of every method", () => {
    for (const name of methodNames) assert.include(protocol, `\`${name}\``)
  })

  it("lists every code of a failed run", () => {
    const cells = firstCells(section(protocol, "8. Runs"))
    sameNames(
      cells.filter((cell) => !methodNames.some((name) => name === cell)),
      runFailureCodes
    )
  })
})

describe("docs/client-tools.md", () => {
  it("has every bound with its value", () => {
    const rows = section(clientTools, "3. Bounds")
      .split("\n")
      .filter((line) => line.startsWith("| `"))
      .map((line) => line.split("|").map((cell) => cell.trim()))
    assert.deepStrictEqual(
      rows.map(([, key, value]) => [key, Number(value)]),
      Object.entries(ClientToolLimits).map(([key, value]) => [`\`${key}\``, value])
    )
  })

  it("lists every schema keyword", () => sameNames(firstCells(section(clientTools, "2. Schemas")), supportedKeywords))

  it("lists every reason of a cancel notice", () => {
    const cells = firstCells(section(clientTools, "6. Cancel notices"))
    sameNames(cells, cancelReasons)
  })

  it("lists every failure code of a tool", () =>
    sameNames(firstCells(section(clientTools, "10. Failure codes of tools")), toolFailureCodes))

  it("shows the fingerprint of one of its own descriptors", () => {
    const text = fences(section(clientTools, "9. Subagents"), "text")[0]?.trim() ?? ""
    const parsed = parseJson(text)
    if (Result.isFailure(parsed) || !isJsonObject(parsed.success)) return assert.fail("not a descriptor")
    const descriptor = decodeDescriptor(parsed.success, "")
    if (Result.isFailure(descriptor)) return assert.fail(descriptor.failure.message)
    assert.strictEqual(canonical(descriptor.success), text)
    assert.include(section(clientTools, "9. Subagents"), `\`${fingerprint(descriptor.success)}\``)
  })
})

describe("docs/architecture.md", () => {
  it("tells of every folder of src/", () => {
    const folders = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && /[\\/]/.test(file))
      .map((file) => `src/${file.split(/[\\/]/)[0]}/`)
    const told = firstCells(section(doc("architecture.md").text, "The folders")).filter((cell) =>
      /^src\/\w+\/$/.test(cell)
    )
    sameNames(told, [...new Set(folders)])
  })
})

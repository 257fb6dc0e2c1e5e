/** docs/operations.md, Traces and metrics: what a real collector on this machine gets from a built agent and from `run`. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { isConfigured } from "../../src/platform/Telemetry.ts"

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url))
const ARGUMENT = "argument-that-stays-here"
const RESULT = "result-that-stays-here"

interface Span {
  readonly name: string
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: unknown }>
  readonly events: ReadonlyArray<unknown>
}

interface Post {
  readonly path: string
  readonly body: string
}

let folder = ""
const posts: Array<Post> = []
let collector: Server
let endpoint = ""

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "magi-otlp-"))
  writeFileSync(
    join(folder, "tools.mjs"),
    `const tool = (name, execute) => ({ name, description: "x", input_schema: { type: "object" }, execute })
     export default [tool("fine", () => "${RESULT}"), tool("broken", () => { throw new Error("${RESULT}") })]`
  )
  collector = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text
    })
    request.on("end", () => {
      posts.push({ path: request.url ?? "", body })
      response.end("{}")
    })
  })
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve))
  const address = collector.address()
  endpoint = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
})
afterAll(async () => {
  collector.closeAllConnections()
  await new Promise((resolve) => collector.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})

const run = (env: Readonly<Record<string, string>>) =>
  new Promise<{ readonly code: number | null; readonly stderr: string; readonly ms: number }>((resolve) => {
    const steps = [
      { calls: ["fine", "broken"].map((name) => ({ name: `client__${name}`, arguments: { secret: ARGUMENT } })) },
      { calls: [{ name: "read", arguments: { path: `${ARGUMENT}.txt` } }] },
      { text: RESULT }
    ]
    const began = performance.now()
    const child = spawn(
      process.execPath,
      [cli, "run", "--tools", join(folder, "tools.mjs"), `script:${JSON.stringify(steps)}`],
      {
        cwd: folder,
        env: { ...process.env, MC_HOME: join(folder, "home"), ...env },
        stdio: ["ignore", "ignore", "pipe"]
      }
    )
    let stderr = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
    })
    child.on("close", (code) => resolve({ code, stderr, ms: performance.now() - began }))
  })

const spansOf = (service: string): ReadonlyArray<Span> =>
  posts
    .filter(({ path }) => path === "/v1/traces")
    .flatMap(({ body }) => JSON.parse(body).resourceSpans)
    .filter(({ resource }) => JSON.stringify(resource).includes(service))
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)

describe("OTLP", { timeout: 60_000 }, () => {
  it("is configured by the standard variables", () => {
    assert.isFalse(isConfigured({}))
    assert.isFalse(isConfigured({ OTEL_EXPORTER_OTLP_ENDPOINT: "" }))
    assert.isFalse(isConfigured({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x", OTEL_SDK_DISABLED: "true" }))
    assert.isTrue(isConfigured({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x" }))
    assert.isTrue(isConfigured({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://x" }))
  })

  it("a collector gets the spans of a run and its calls, and metrics; no argument and no result is in them", async () => {
    const { code, stderr } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: "tested" })
    assert.strictEqual(code, 0, stderr)
    const spans = spansOf("tested")
    const names = spans.map(({ name }) => name)
    // From the agent, and from the client.
    for (const name of ["run", "tool.call", "model.request", "magi_code.client.run", "magi_code.client.handler"]) {
      assert.include(names, name)
    }
    const tools = spans
      .filter(({ name }) => name === "tool.call")
      .map(({ attributes }) => JSON.stringify(attributes.find(({ key }) => key === "tool")?.value))
    for (const tool of ["client__fine", "client__broken", "read"]) assert.include(tools.join(), tool)
    const keys = new Set(spans.flatMap(({ attributes }) => attributes.map(({ key }) => key)))
    const allowed = ["call_id", "model", "run_id", "session_id", "status", "surface", "task_id", "tool"]
    assert.isEmpty([...keys].filter((key) => !allowed.includes(key)))
    const all = posts.map(({ body }) => body).join("\n")
    assert.include(all, "magi_code_tool_calls")
    assert.include(all, "magi_code_client_calls")
    assert.notInclude(all, ARGUMENT)
    assert.notInclude(all, RESULT)
    assert.notInclude(all, folder)
  })

  it("a collector that is not there, or never answers, does not keep anybody", async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
    const address = silent.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const plain = await run({})
    for (const url of ["http://127.0.0.1:9", `http://127.0.0.1:${port}`]) {
      const { code, ms, stderr } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: url })
      assert.strictEqual(code, 0, stderr)
      // It is given 0.3 s; one that is waited for has no end. The rest is room for a busy machine.
      assert.isBelow(ms - plain.ms, 5000)
    }
    silent.closeAllConnections()
    await new Promise((resolve) => silent.close(resolve))
  })

  it("a variable that cannot be used is a warning", async () => {
    const { code, stderr } = await run({
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_COMPRESSION: "brotli"
    })
    assert.strictEqual(code, 0, stderr)
    assert.match(stderr, /traces and metrics are not exported/)
  })
})

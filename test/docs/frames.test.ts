/**
 * Every frame that docs/local-agent-protocol.md and docs/client-tools.md show is a real one: it is decoded here as the agent
 * and the client do, a response answers a request of its page, and a refusal is the one that the request gets.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import {
  baseCapabilities,
  CompactJson,
  decodeEventData,
  decodeParams,
  decodeResult,
  Envelope,
  errorCodes,
  initializeResult,
  isEventName,
  isJsonObject,
  isMethodName,
  type Json,
  type JsonObject,
  optionalCapabilities,
  type ParamsFault,
  parseJson,
  preflight
} from "../../src/protocol/index.ts"
import { doc, fences, type Page } from "./pages.ts"

const encoder = new TextEncoder()
const known = [...baseCapabilities, ...optionalCapabilities]

const fail = (message: string): never => assert.fail(message)

/** A frame of the page as one line, as it is on the wire. */
const lineOf = (text: string): { readonly frame: JsonObject; readonly line: Uint8Array } => {
  const parsed = parseJson(text, { maxDepth: 32 })
  if (Result.isFailure(parsed) || !isJsonObject(parsed.success)) return fail(`not a frame: ${text}`)
  return { frame: parsed.success, line: encoder.encode(CompactJson.stringify(parsed.success)) }
}

interface Asked {
  readonly method: string
  readonly params: JsonObject
  /** What the agent says of the params; `undefined`: nothing is wrong. */
  readonly fault: ParamsFault | undefined
}

const request = (line: Uint8Array): readonly [string, Asked] => {
  const decoded = Envelope.decodeRequest(line)
  if (decoded._tag !== "Request") return fail(decoded.message)
  const { id, method, params } = decoded
  assert.isUndefined(decoded.fault)
  if (!isMethodName(method)) return fail(`no method ${method}`)
  const checked = method === "initialize" ? preflight(params, known) : decodeParams(method, params)
  return [id, { method, params, fault: Result.isFailure(checked) ? checked.failure : undefined }]
}

const success = (asked: Asked, result: JsonObject) => {
  assert.isUndefined(asked.fault, `${asked.method} has a success, though its params are refused`)
  if (!isMethodName(asked.method)) return fail(asked.method)
  const decoded = decodeResult(asked.method, result)
  if (Result.isFailure(decoded)) return fail(`${asked.method}: ${decoded.failure.message} at ${decoded.failure.path}`)
  if (asked.method !== "initialize") return
  const admission = preflight(asked.params, known)
  const told = decodeResult("initialize", result)
  if (Result.isFailure(admission) || Result.isFailure(told)) return fail("initialize")
  const { instance_id: instanceId, selection, server, workspace } = told.success
  const whole: Json = initializeResult({
    instanceId,
    workspace,
    server,
    capabilities: known,
    admission: admission.success,
    selection
  })
  assert.deepStrictEqual<Json>(result, whole)
}

const failure = (asked: Asked, error: { readonly code: string; readonly message: string; readonly path?: string }) => {
  assert.include(errorCodes, error.code)
  const { fault } = asked
  if (fault === undefined) return assert.notInclude(["invalid_params", "unsupported_capability"], error.code)
  assert.deepStrictEqual([error.message, error.path], [fault.message, fault.path])
}

const check = (page: Page) => {
  const asked = new Map<string, Asked>()
  const answered = new Set<string>()
  for (const text of fences(page.text, "json")) {
    const { frame, line } = lineOf(text)
    if ("method" in frame) {
      const [id, what] = request(line)
      assert.isFalse(asked.has(id), `${id} is used twice`)
      asked.set(id, what)
      continue
    }
    const decoded = Envelope.decodeServerFrame(line)
    if (Result.isFailure(decoded)) return fail(`${decoded.failure.message}: ${text}`)
    const told = decoded.success
    if (told._tag === "Event") {
      if (!isEventName(told.event)) return fail(`no event ${told.event}`)
      const data = decodeEventData(told.event, told.data)
      if (Result.isFailure(data)) return fail(`${told.event}: ${data.failure.message} at ${data.failure.path}`)
      continue
    }
    const to = told.id === null ? undefined : asked.get(told.id)
    if (told.id === null || to === undefined) return fail(`a response to nothing: ${text}`)
    answered.add(told.id)
    if (told._tag === "Success") success(to, told.result)
    else failure(to, told.error)
  }
  assert.isAbove(asked.size, 3)
  for (const id of asked.keys()) {
    // An example of a request may stand for itself only where the same page answers it.
    assert.isTrue(answered.has(id), `${id} is not answered`)
  }
}

describe("every example is a real frame", () => {
  for (const name of ["local-agent-protocol.md", "client-tools.md"]) it(name, () => check(doc(name)))
})

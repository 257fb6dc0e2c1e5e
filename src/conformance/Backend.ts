/**
 * The backend under test as a case talks to it: requests and their answers, typed by method; events, typed by name;
 * client tool calls and their replies; what the offline model saw. `Wire` has the bytes and frames below this.
 */
import { Effect } from "effect"
import * as Result from "effect/Result"
import {
  decodeResult,
  type EventName,
  type InitializeResult,
  type Json,
  type JsonObject,
  type MethodName,
  type ResultOf
} from "../protocol/index.ts"
import { type CaseFailed, fail } from "./CaseEnd.ts"
import { type Answer, type EventFrame, type Frame, isEvent, type WireError } from "./Frame.ts"
import { same, shown } from "./Json.ts"
import { type ModelResult, modelResults } from "./ModelResult.ts"
import { type Waiting, Wire } from "./Wire.ts"

export interface RequestOptions extends Waiting {
  /** The request's id (default: a fresh one). */
  readonly id?: string
}

type Failing<A = void> = Effect.Effect<A, CaseFailed>
type Call = EventFrame<"client.tool.call">

/** A prompt that the offline model plays step by step. */
export const script = (steps: Json): string => `script:${JSON.stringify(steps)}`

const isAnswer =
  (id: string | null) =>
  (frame: Frame): frame is Answer =>
    frame.event === undefined && frame.id === id

export class Backend extends Wire {
  /** The attached session, once there is one. */
  session = ""
  /** The run that `turn` started last. */
  run = ""
  #ids = 0

  /** A request id that this process has not seen. */
  id(): string {
    this.#ids += 1
    return `k${this.#ids}`
  }

  /** A request as a line of text, its LF included. */
  requestLine(method: string, params: JsonObject, id: string): string {
    return `${JSON.stringify({ version: 1, id, method, params })}\n`
  }

  /** The response to an id. */
  response(id: string | null, options?: Waiting): Failing<Answer> {
    return this.until(isAnswer(id), `response to ${id}`, options)
  }

  /** The next response or event of any kind. */
  next(what: string, options?: Waiting): Failing<Frame> {
    return this.until(() => true, what, options)
  }

  /** Sends a request and waits for its response. */
  request(method: string, params: JsonObject = {}, { id = this.id(), ...waiting }: RequestOptions = {}) {
    return Effect.andThen(this.raw(this.requestLine(method, params, id)), this.response(id, waiting))
  }

  /** The same with params given as JSON text. */
  requestText(method: string, params: string, { id = this.id(), ...waiting }: RequestOptions = {}) {
    const line = `{"version":1,"id":${JSON.stringify(id)},"method":${JSON.stringify(method)},"params":${params}}`
    return Effect.andThen(this.line(line), this.response(id, waiting))
  }

  /** Sends a request that must succeed; gives its result, whose members are of their types. */
  ok<Name extends MethodName>(
    method: Name,
    params: JsonObject = {},
    options?: RequestOptions
  ): Failing<ResultOf<Name>> {
    return Effect.flatMap(this.request(method, params, options), (answer) => this.#result(method, answer))
  }

  #result<Name extends MethodName>(method: Name, { error, result }: Answer): Failing<ResultOf<Name>> {
    if (result === undefined) return fail(`${method} should succeed, got ${shown(error)}`)
    const decoded = decodeResult(method, result)
    return Result.isSuccess(decoded)
      ? Effect.succeed(decoded.success)
      : fail(`the result of ${method}: ${decoded.failure.path ?? ""} ${decoded.failure.message}: ${shown(result)}`)
  }

  /** Sends a request that must fail with this code (or one of these); gives the error. */
  refused(
    code: string | ReadonlyArray<string>,
    method: string,
    params: JsonObject = {},
    options?: RequestOptions
  ): Failing<WireError> {
    return Effect.flatMap(this.request(method, params, options), (answer) => this.#refusal(code, answer, method))
  }

  /** The same with params given as JSON text. */
  refusedText(code: string | ReadonlyArray<string>, method: string, params: string, options?: RequestOptions) {
    return Effect.flatMap(this.requestText(method, params, options), (answer) => this.#refusal(code, answer, method))
  }

  #refusal(code: string | ReadonlyArray<string>, { error }: Answer, method: string): Failing<WireError> {
    const wanted = typeof code === "string" ? [code] : code
    if (error !== undefined && wanted.includes(error.code)) return Effect.succeed(error)
    return fail(
      `${method}: wanted ${wanted.join(" or ")}, got ${error ? `${error.code} (${error.message})` : "success"}`
    )
  }

  /** Sends `initialize`: with these tools, or without client tools where `tools` is null. */
  initialize(tools: ReadonlyArray<JsonObject> | null, capabilities: ReadonlyArray<string> = []): Failing<Answer> {
    return this.request("initialize", {
      required_capabilities: [...(tools ? ["client.tools"] : []), ...capabilities],
      ...(tools ? { client_tools: tools } : {})
    })
  }

  /** The same, and it must succeed. */
  initialized(
    tools: ReadonlyArray<JsonObject> | null,
    capabilities: ReadonlyArray<string> = []
  ): Failing<InitializeResult> {
    return Effect.flatMap(this.initialize(tools, capabilities), (answer) => this.#result("initialize", answer))
  }

  /** The events of a name so far. */
  events<Name extends EventName>(name: Name): ReadonlyArray<EventFrame<Name>> {
    return this.frames.filter(isEvent(name))
  }

  /** The first event of a name that satisfies `test`, now or later. */
  event<Name extends EventName>(
    name: Name,
    test: (event: EventFrame<Name>) => boolean = () => true,
    options?: Waiting
  ): Failing<EventFrame<Name>> {
    const named = isEvent(name)
    return this.until(
      (frame: Frame): frame is EventFrame<Name> => named(frame) && test(frame),
      `event ${name}`,
      options
    )
  }

  /** Waits for `count` calls in all; gives every call event so far. */
  calls(count = 1, options?: Waiting): Failing<ReadonlyArray<Call>> {
    return Effect.gen({ self: this }, function* () {
      const enough = (): boolean => this.events("client.tool.call").length >= count
      if (!enough()) yield* this.until(enough, `client.tool.call number ${count}`, options)
      return this.events("client.tool.call")
    })
  }

  /** The cancel notices so far, of one call or of all. */
  cancels(callId?: string): ReadonlyArray<EventFrame<"client.tool.cancel">> {
    return this.events("client.tool.cancel").filter((one) => callId === undefined || one.data.call_id === callId)
  }

  /** Starts a turn; steps become a script. Gives the run's id, which is `run` from now on. */
  turn(prompt: Json, options?: RequestOptions): Failing<string> {
    const text = typeof prompt === "string" ? prompt : script(prompt)
    return Effect.map(this.ok("turn.start", { session_id: this.session, prompt: text }, options), ({ run_id }) => {
      this.run = run_id
      return run_id
    })
  }

  /** The end of a run (default: the last one). */
  finished(run = this.run, options?: Waiting): Failing<EventFrame<"run.finished">> {
    return this.event("run.finished", (end) => end.data.run_id === run, options)
  }

  /** The params of a reply to a call: success with text `ok`, unless `fields` say otherwise. */
  answer(call: Call, fields: JsonObject = {}): JsonObject {
    const { call_id, run_id, session_id, subagent_id, task_id } = call.data
    const identity = { instance_id: call.instance_id, session_id, run_id, call_id, task_id, subagent_id }
    return { ...identity, status: "success", text: "ok", ...fields }
  }

  /** Replies to a call; gives the response, whatever it is. */
  reply(call: Call, fields?: JsonObject, options?: RequestOptions): Failing<Answer> {
    return this.request("client.tool.result", this.answer(call, fields), options)
  }

  /** Replies to a call, and the reply must be accepted. */
  accepted(call: Call, fields?: JsonObject, options?: RequestOptions): Failing<Answer> {
    return Effect.flatMap(this.reply(call, fields, options), (answer) =>
      same(answer.result, { accepted: true })
        ? Effect.succeed(answer)
        : fail(`a reply should be {"accepted":true}, got ${shown(answer.error ?? answer.result)}`)
    )
  }

  /** Replies to a call, and the reply must be refused with this code. */
  replyRefused(code: string, call: Call, fields?: JsonObject): Failing<WireError> {
    return this.refused(code, "client.tool.result", this.answer(call, fields))
  }

  /** The final text of each message of a run, in order. */
  texts(run = this.run): ReadonlyArray<string> {
    const messages = new Map<string, Array<{ readonly part: number; readonly text: string }>>()
    for (const { data } of this.events("message.reconcile")) {
      if (data.run_id !== run) continue
      messages.set(data.message_id, [...(messages.get(data.message_id) ?? []), data])
    }
    return [...messages.values()].map((parts) =>
      parts
        .sort((a, b) => a.part - b.part)
        .map((one) => one.text)
        .join("")
    )
  }

  /** What the model saw of the calls before its last message, whose text was `{{results}}`. */
  results(run = this.run): Failing<ReadonlyArray<ModelResult>> {
    return modelResults(this.texts(run).at(-1) ?? "")
  }
}

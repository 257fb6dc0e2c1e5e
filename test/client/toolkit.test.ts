/** product section 4: any toolkit written for `LanguageModel` becomes client tools unchanged. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { ToolRefused } from "../../src/client/AgentErrors.ts"
import type { ClientTools, ToolReplyValue } from "../../src/client/ClientTool.ts"
import { ToolFailed } from "../../src/client/ClientTool.ts"
import { ToolCall, type ToolCallShape } from "../../src/client/ToolCall.ts"
import * as ToolkitTools from "../../src/client/ToolkitTools.ts"
import type { JsonObject } from "../../src/protocol/Json.ts"

const call = (approve: (summary: string) => boolean = () => false): ToolCallShape => ({
  identity: { instance_id: "i", session_id: "s", run_id: "r", call_id: "c-1", task_id: null, subagent_id: null },
  name: "client__x",
  deadline: 0n,
  remainingMs: Effect.succeed(1234),
  ending: Effect.undefined,
  approve: (summary) => Effect.sync(() => approve(summary))
})

/** What the reply to a call would be: a failure is an error reply. */
const replyTo = (tools: ClientTools, name: string, args: JsonObject, shape = call()): Effect.Effect<ToolReplyValue> => {
  const tool = tools.tools.find((one) => one.descriptor.name === `client__${name}`)
  assert.isDefined(tool)
  if (tool === undefined) return Effect.die("no such tool")
  return tool.run(args).pipe(
    Effect.catchTag("ToolFailed", ({ structured, text }) =>
      Effect.succeed<ToolReplyValue>({ status: "error", text, ...(structured === undefined ? {} : { structured }) })
    ),
    Effect.provideService(ToolCall, shape)
  )
}

const refusalOf = <A, E>(made: Effect.Effect<A, E>) =>
  Effect.map(Effect.exit(made), (exit) => {
    const error = Exit.isFailure(exit) ? Option.getOrUndefined(Exit.findErrorOption(exit)) : undefined
    return error instanceof ToolRefused ? error : undefined
  })

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { id: Schema.String }) {
  override get message() {
    return `no record ${this.id}`
  }
}

describe("descriptors", () => {
  it.effect("client__ is put before the name, the schema is inlined and closed", () =>
    Effect.gen(function* () {
      const Point = Schema.Struct({ x: Schema.Finite }).annotate({ identifier: "Point" })
      const toolkit = Toolkit.make(
        Tool.make("move", {
          description: "Moves.",
          parameters: Schema.Struct({ from: Point, to: Point, note: Schema.optionalKey(Schema.String) })
        }).annotate(ToolkitTools.TimeoutMs, 5000),
        Tool.make("client__ping", { description: "Pings." }),
        Tool.make("now", { description: "Tells the time.", parameters: Schema.Struct({}) })
      )
      const tools = yield* ToolkitTools.make(toolkit).pipe(
        Effect.provide(
          toolkit.toLayer({ move: () => Effect.void, client__ping: () => Effect.void, now: () => Effect.void })
        )
      )
      const point = {
        type: "object",
        properties: { x: { type: "number" } },
        required: ["x"],
        additionalProperties: false
      }
      assert.deepStrictEqual(
        tools.tools.map((tool) => tool.descriptor),
        [
          {
            name: "client__move",
            description: "Moves.",
            input_schema: {
              type: "object",
              properties: { from: point, to: point, note: { type: "string" } },
              required: ["from", "to"],
              additionalProperties: false
            },
            timeout_ms: 5000
          },
          {
            name: "client__ping",
            description: "Pings.",
            input_schema: { type: "object", additionalProperties: false },
            timeout_ms: 30_000
          },
          {
            name: "client__now",
            description: "Tells the time.",
            input_schema: { type: "object", additionalProperties: false },
            timeout_ms: 30_000
          }
        ]
      )
    })
  )

  it.effect("a tool without a description is registered under its title or name", () =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(Tool.make("bare"), Tool.make("titled").annotate(Tool.Title, "A title"))
      const tools = yield* ToolkitTools.make(toolkit).pipe(
        Effect.provide(toolkit.toLayer({ bare: () => Effect.void, titled: () => Effect.void }))
      )
      assert.deepStrictEqual(
        tools.tools.map((tool) => tool.descriptor.description),
        ["bare", "A title"]
      )
    })
  )

  it.effect("what the subset has no word for is refused with a pointer", () =>
    Effect.gen(function* () {
      interface Tree {
        readonly children: ReadonlyArray<Tree>
      }
      const Tree = Schema.Struct({
        children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
      }).annotate({ identifier: "Tree" })
      const recursive = Toolkit.make(Tool.make("grow", { description: "x", parameters: Schema.Struct({ tree: Tree }) }))
      const raw = Toolkit.make(
        Tool.dynamic("raw", { description: "x", parameters: { type: "object", $schema: "x", properties: {} } })
      )
      const pattern = Toolkit.make(
        Tool.make("pattern", {
          description: "x",
          parameters: Schema.Struct({ s: Schema.String.check(Schema.isPattern(/^(?!a)/u)) })
        })
      )
      const one = yield* refusalOf(
        ToolkitTools.make(recursive).pipe(Effect.provide(recursive.toLayer({ grow: () => Effect.void })))
      )
      assert.include(one?.reason ?? "", "contains itself")
      const two = yield* refusalOf(
        ToolkitTools.make(raw).pipe(Effect.provide(raw.toLayer({ raw: () => Effect.succeed(1) })))
      )
      assert.strictEqual(two?.path, "/input_schema/$schema")
      const three = yield* refusalOf(
        ToolkitTools.make(pattern).pipe(Effect.provide(pattern.toLayer({ pattern: () => Effect.void })))
      )
      assert.strictEqual(three?.path, "/input_schema/properties/s/pattern")
    })
  )
})

describe("calls", () => {
  const Lookup = Tool.make("lookup", {
    description: "Looks up.",
    parameters: Schema.Struct({ id: Schema.String, at: Schema.optionalKey(Schema.Date) }),
    success: Schema.Struct({ id: Schema.String, when: Schema.optional(Schema.Date), year: Schema.Int }),
    failure: NotFound
  })
  const Returned = Tool.make("returned", {
    description: "Fails as a result.",
    failure: Schema.Struct({ why: Schema.String }),
    failureMode: "return"
  })
  const Raw = Tool.dynamic("raw", {
    description: "Raw.",
    parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
  })
  const Nothing = Tool.make("nothing", { description: "Gives nothing." })
  const Dying = Tool.make("dying", { description: "Dies." })
  const Chatty = Tool.make("chatty", { description: "Streams.", success: Schema.Int })
  const Odd = Tool.make("odd", { description: "Gives what its schema forbids.", success: Schema.Int })
  const toolkit = Toolkit.make(Lookup, Returned, Raw, Nothing, Dying, Chatty, Odd)
  const seen: Array<unknown> = []
  const layer = toolkit.toLayer({
    lookup: (params) =>
      Effect.suspend(() => {
        seen.push(params)
        return params.id === "none"
          ? Effect.fail(new NotFound({ id: params.id }))
          : Effect.succeed({ id: params.id, year: params.at?.getUTCFullYear() ?? 0, when: params.at })
      }),
    returned: () => Effect.fail({ why: "because" }),
    raw: (params) => Effect.succeed({ got: params }),
    nothing: () => Effect.void,
    dying: () => Effect.die(new Error("secret")),
    chatty: (_, context) => Effect.as(context.preliminary(1), 2),
    odd: () => Effect.succeed(1.5)
  })
  const made = Effect.provide(ToolkitTools.make(toolkit), layer)

  it.effect("arguments are decoded, the success is the structured value in its encoded form", () =>
    Effect.gen(function* () {
      const tools = yield* made
      assert.deepStrictEqual(yield* replyTo(tools, "lookup", { id: "R-1", at: "2024-05-06T00:00:00.000Z" }), {
        status: "success",
        text: "",
        structured: { id: "R-1", when: "2024-05-06T00:00:00.000Z", year: 2024 }
      })
      assert.deepStrictEqual(yield* replyTo(tools, "nothing", {}), { status: "success", text: "" })
      assert.deepStrictEqual(yield* replyTo(tools, "raw", { n: 1, more: [1] }), {
        status: "success",
        text: "",
        structured: { got: { n: 1, more: [1] } }
      })
    })
  )

  it.effect("a mismatch is an error reply with a pointer and no values, and the handler never starts", () =>
    Effect.gen(function* () {
      const tools = yield* made
      const before = seen.length
      for (const [args, pointer] of [
        [{ id: 5 }, "/id"],
        [{ id: "SECRET", more: "SECRET" }, '""'],
        [{ id: "x", at: "SECRET" }, "/at"]
      ] as const) {
        const reply = yield* replyTo(tools, "lookup", args)
        assert.strictEqual(reply.status, "error")
        assert.include(reply.text, pointer)
        assert.notInclude(reply.text, "SECRET")
      }
      assert.include((yield* replyTo(tools, "raw", { n: "x" })).text, "/n")
      assert.strictEqual(seen.length, before)
    })
  )

  it.effect("a typed failure is an error reply with its message and encoded form, whatever the failure mode", () =>
    Effect.gen(function* () {
      const tools = yield* made
      assert.deepStrictEqual(yield* replyTo(tools, "lookup", { id: "none" }), {
        status: "error",
        text: "no record none",
        structured: { _tag: "NotFound", id: "none" }
      })
      const returned = yield* replyTo(tools, "returned", {})
      assert.strictEqual(returned.status, "error")
      assert.deepStrictEqual(returned.structured, { why: "because" })
    })
  )

  it.effect("a defect stays a defect; preliminary results and results of another schema are errors", () =>
    Effect.gen(function* () {
      const tools = yield* made
      assert.isTrue(Exit.isFailure(yield* Effect.exit(replyTo(tools, "dying", {}))))
      assert.include((yield* replyTo(tools, "chatty", {})).text, "preliminary")
      assert.strictEqual((yield* replyTo(tools, "odd", {})).status, "error")
    })
  )
})

describe("a handler", () => {
  it.effect("can read its call and what its layer was made with, and ask for approval", () =>
    Effect.gen(function* () {
      class Store extends Context.Service<Store, { readonly name: string }>()("test/Store") {}
      const toolkit = Toolkit.make(
        Tool.make("who", {
          description: "Who?",
          success: Schema.Struct({
            id: Schema.String,
            left: Schema.Finite,
            store: Schema.String,
            allowed: Schema.Boolean
          }),
          dependencies: [ToolCall]
        })
      )
      const layer = toolkit.toLayer(
        Effect.gen(function* () {
          const store = yield* Store
          return {
            who: () =>
              Effect.gen(function* () {
                const current = yield* ToolCall
                return {
                  id: current.identity.call_id,
                  left: yield* current.remainingMs,
                  store: store.name,
                  allowed: yield* current.approve("may I?")
                }
              })
          }
        })
      )
      const tools = yield* ToolkitTools.make(toolkit).pipe(
        Effect.provide(Layer.provide(layer, Layer.succeed(Store, { name: "shelf" })))
      )
      const reply = yield* replyTo(
        tools,
        "who",
        {},
        call((summary) => summary === "may I?")
      )
      assert.deepStrictEqual(reply.structured, { id: "c-1", left: 1234, store: "shelf", allowed: true })
    })
  )

  it.effect("with needsApproval starts only when it was approved", () =>
    Effect.gen(function* () {
      let ran = 0
      const toolkit = Toolkit.make(
        Tool.make("always", { description: "x", needsApproval: true }),
        Tool.make("large", {
          description: "x",
          parameters: Schema.Struct({ n: Schema.Int }),
          needsApproval: ({ n }) => Effect.succeed(n > 10)
        })
      )
      const run = () =>
        Effect.sync(() => {
          ran += 1
        })
      const tools = yield* ToolkitTools.make(toolkit).pipe(Effect.provide(toolkit.toLayer({ always: run, large: run })))
      const asked: Array<string> = []
      const deny = call((summary) => {
        asked.push(summary)
        return false
      })
      assert.strictEqual((yield* replyTo(tools, "always", {}, deny)).status, "error")
      assert.strictEqual((yield* replyTo(tools, "large", { n: 11 }, deny)).status, "error")
      assert.strictEqual(ran, 0)
      // The question shows the arguments: an approval is for exactly them.
      assert.include(asked[1] ?? "", '{"n":11}')
      assert.strictEqual((yield* replyTo(tools, "large", { n: 10 }, deny)).status, "success")
      assert.strictEqual(
        (yield* replyTo(
          tools,
          "always",
          {},
          call(() => true)
        )).status,
        "success"
      )
      assert.strictEqual(ran, 2)
    })
  )
})

it("ToolFailed is for the model: its text is the reply's", () => {
  assert.strictEqual(new ToolFailed({ text: "t" }).text, "t")
})

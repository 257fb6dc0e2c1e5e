/**
 * What the compiler makes of the client's API, as a program that uses it sees it: `npm run check` judges these, running them
 * only shows that they are there. product section 4.
 */
import { describe, expectTypeOf, it } from "@effect/vitest"
import { Context, type Effect, type Layer, Schema, type Scope, type Stream } from "effect"
import { Tool, Toolkit } from "effect/ai"
import {
  Agent,
  type AgentEvent,
  type AgentOpenError,
  type AgentShape,
  type ApprovalQuestion,
  type Approver,
  type ClientTools,
  type EventsOverflow,
  type HistoryItem,
  type KnownEvent,
  type McpToolAdapter,
  McpTools,
  PlainTools,
  type Recycled,
  type RecycleFailed,
  type ReplySent,
  type RequestError,
  ToolCall,
  ToolkitTools,
  type ToolRefused,
  type TransportLost,
  type Turn,
  type TurnEvent,
  type TurnOutcome,
  type UnknownEvent
} from "../../src/index.ts"
import type { ClientToolCall, MessageDelta, RunFinished } from "../../src/protocol/index.ts"

class Database extends Context.Service<Database, { readonly size: number }>()("test/Database") {}

class NotThere extends Schema.TaggedError<NotThere>()("NotThere", { id: Schema.String }) {}

const Lookup = Tool.make("lookup", {
  description: "Looks up.",
  parameters: Schema.Struct({ id: Schema.String, when: Schema.DateFromString }),
  success: Schema.Struct({ title: Schema.String }),
  failure: NotThere,
  dependencies: [Database, ToolCall]
})
const toolkit = Toolkit.make(Lookup)

describe("toolkits", () => {
  it("handlers get decoded parameters, and may give and fail with what their tool says", () => {
    type Handler = Parameters<typeof toolkit.of>[0]["lookup"]
    expectTypeOf<Parameters<Handler>[0]>().toEqualTypeOf<{ readonly id: string; readonly when: Date }>()
    type Handled = Extract<ReturnType<Handler>, Effect.Effect<unknown, unknown, unknown>>
    expectTypeOf<Effect.Success<Handled>>().toEqualTypeOf<{ readonly title: string }>()
    expectTypeOf<NotThere>().toExtend<Effect.Error<Handled>>()
  })

  it("what a toolkit needs is its handlers and its dependencies, but not the call: every call brings that", () => {
    const made = ToolkitTools.make(toolkit)
    expectTypeOf<Effect.Success<typeof made>>().toEqualTypeOf<ClientTools>()
    expectTypeOf<Effect.Error<typeof made>>().toEqualTypeOf<ToolRefused>()
    expectTypeOf<Effect.Services<typeof made>>().toEqualTypeOf<Tool.HandlersFor<typeof toolkit.tools> | Database>()
  })

  it("a tool of another kind is refused by the compiler", () => {
    // @ts-expect-error a toolkit is not an array of tools
    expectTypeOf(ToolkitTools.make([Lookup])).not.toBeAny()
    // @ts-expect-error a plain tool has a function `execute`
    expectTypeOf(PlainTools.make([{ name: "x", description: "x", input_schema: { type: "object" } }])).not.toBeAny()
  })
})

describe("events of a turn", () => {
  it("are the agent's, known or not, and the replies that were sent", () => {
    expectTypeOf<TurnEvent>().toEqualTypeOf<AgentEvent | ReplySent>()
    expectTypeOf<AgentEvent>().toEqualTypeOf<KnownEvent | UnknownEvent>()
    expectTypeOf<TurnEvent["_tag"]>().toEqualTypeOf<"Event" | "UnknownEvent" | "Reply">()
    expectTypeOf<Turn["events"]>().toEqualTypeOf<Stream.Stream<TurnEvent, TransportLost | EventsOverflow>>()
  })

  it("are told apart by their name, which gives their data its type", () => {
    const dataOf = (event: TurnEvent) => {
      if (event._tag === "Reply") return expectTypeOf(event.status).toEqualTypeOf<"success" | "error">()
      if (event._tag === "UnknownEvent") return expectTypeOf(event.event).toEqualTypeOf<string>()
      if (event.event === "message.delta") return expectTypeOf(event.data).toEqualTypeOf<MessageDelta>()
      if (event.event === "run.finished") return expectTypeOf(event.data).toEqualTypeOf<RunFinished>()
      if (event.event === "client.tool.call") return expectTypeOf(event.data).toEqualTypeOf<ClientToolCall>()
    }
    expectTypeOf(dataOf).parameter(0).toEqualTypeOf<TurnEvent>()
  })
})

describe("an agent", () => {
  it("is a service with typed failures and no requirement of its own", () => {
    expectTypeOf(Agent.layer).returns.toEqualTypeOf<Layer.Layer<Agent, AgentOpenError>>()
    expectTypeOf(Agent.make).returns.toEqualTypeOf<Effect.Effect<AgentShape, AgentOpenError, Scope.Scope>>()
    expectTypeOf<AgentShape["run"]>().returns.toEqualTypeOf<Effect.Effect<TurnOutcome, RequestError | TransportLost>>()
    expectTypeOf<AgentShape["turn"]>().returns.toEqualTypeOf<
      Effect.Effect<Turn, RequestError | TransportLost, Scope.Scope>
    >()
    expectTypeOf(Agent.recycle).toEqualTypeOf<Effect.Effect<Recycled, RecycleFailed, Agent>>()
    expectTypeOf<AgentShape["lost"]>().toEqualTypeOf<Effect.Effect<never, TransportLost>>()
  })

  it("gives its history as a stream, an entry told by its kind", () => {
    expectTypeOf<AgentShape["history"]>().returns.toEqualTypeOf<
      Stream.Stream<HistoryItem, RequestError | TransportLost>
    >()
    expectTypeOf<Extract<HistoryItem, { readonly kind: "tool" }>["status"]>().toEqualTypeOf<
      "success" | "failure" | "cancelled" | "interrupted" | "unknown"
    >()
    expectTypeOf<Exclude<HistoryItem, { readonly kind: "tool" }>["text"]>().toEqualTypeOf<string>()
    expectTypeOf<HistoryItem>().not.toHaveProperty("text")
  })

  it("asks an approver that cannot fail, and a handler can ask it", () => {
    expectTypeOf<Approver>().toEqualTypeOf<(question: ApprovalQuestion) => Effect.Effect<boolean>>()
    expectTypeOf<(typeof ToolCall.Service)["approve"]>().toEqualTypeOf<(summary: string) => Effect.Effect<boolean>>()
    expectTypeOf<ApprovalQuestion>().toHaveProperty("timeoutMs")
  })
})

describe("tools of an MCP server", () => {
  it("come with what was left out, and fail only where the server cannot be listed", () => {
    expectTypeOf(McpTools.make).returns.toEqualTypeOf<Effect.Effect<McpTools.McpTools, McpTools.McpUnavailable>>()
    expectTypeOf<McpTools.McpTools["leftOut"]>().toEqualTypeOf<ReadonlyArray<McpToolAdapter.LeftOut>>()
  })
})

/**
 * The model of these tests: a real HTTP server that speaks Chat Completions. A run has three responses: three calls at
 * once, one of them a script that makes a call of its own; then one call; then an answer. Every request is kept.
 */
import { Effect, type Scope } from "effect"
import { chunk, done, pieces, serve } from "../../model/support.ts"

export interface AskedMessage {
  readonly role: "system" | "user" | "assistant" | "tool"
  readonly content: string | null
  readonly tool_call_id?: string
  readonly tool_calls?: ReadonlyArray<{ readonly id: string; readonly function: { readonly name: string } }>
}

export type AskedMessages = ReadonlyArray<AskedMessage>

/** The prompt that goes on with a session after its death. */
export const GO_ON = "go on"
export const LAST_WORDS = "all is done"
/** The client tool that only the script calls. */
export const NESTED = "client__nested"
export const CLIENT_TOOLS = ["client__one", "client__two", NESTED, "client__three"] as const

/** Client calls that are pending together before the first reply. */
export const FIRST_CALLS = 3

/**
 * The order in which the parent replies: to none of the first three before it was told of all of them, and to each when
 * the one before is accepted. So a run is the same each time, and every call is in flight while others are settled.
 */
export const REPLIES: ReadonlyArray<string> = ["client__two", NESTED, "client__one", "client__three"]

/** What the parent replies for a tool. */
export const replyOf = (tool: string): string => `the reply of ${tool}`

const script = `const { content } = await tools.call("${NESTED}", {}); return content.text`

const steps: ReadonlyArray<ReadonlyArray<{ readonly name: string; readonly arguments: object }>> = [
  [
    { name: "client__one", arguments: {} },
    { name: "code_mode", arguments: { code: script } },
    { name: "client__two", arguments: {} }
  ],
  [{ name: "client__three", arguments: {} }]
]

/** Every call that a whole run makes, those of the script included. */
export const ALL_CALLS: ReadonlyArray<string> = [...steps.flat().map(({ name }) => name), NESTED]

export interface Model {
  readonly settings: object
  /** The messages of each request that belongs to the session which began with this prompt, in order. */
  readonly asked: (prompt: string) => ReadonlyArray<AskedMessages>
}

const promptOf = (messages: AskedMessages): string => messages.find(({ role }) => role === "user")?.content ?? ""

const answerTo = (messages: AskedMessages): ReadonlyArray<string> => {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === "user"))
  if (turn[0]?.content === GO_ON) return [chunk({ role: "assistant", content: "gone on" }), chunk({}, "stop"), done]
  const made = turn.filter(({ role }) => role === "assistant").length
  const calls = steps[made]
  if (calls === undefined) return [chunk({ role: "assistant", content: LAST_WORDS }), chunk({}, "stop"), done]
  const tool_calls = calls.map(({ arguments: args, name }, index) => ({
    index,
    id: `call_${made}_${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) }
  }))
  return [chunk({ role: "assistant", content: `step ${made}`, tool_calls }), chunk({}, "tool_calls"), done]
}

export const makeModel: Effect.Effect<Model, never, Scope.Scope> = Effect.gen(function* () {
  const requests: Array<AskedMessages> = []
  const server = yield* serve(async (response, { raw }) => {
    const body: { readonly messages: AskedMessages } = JSON.parse(raw)
    requests.push(body.messages)
    await pieces(response, answerTo(body.messages))
    response.end()
  })
  return {
    settings: {
      model: { provider: "local", model: "m" },
      providers: { local: { kind: "openai", base_url: `${server.url}/v1`, models: ["m"] } }
    },
    asked: (prompt) => requests.filter((messages) => promptOf(messages) === prompt)
  }
})

/** One life of a backend: a session, a turn whose calls are replied to at once, and the death somewhere in it. */
import { once } from "node:events"
import { join } from "node:path"
import { Built, cli, type Frame, tool } from "../../process/support/Built.ts"
import { until } from "../../process/support/processes.ts"
import { type AcknowledgedRecord, notesIn, type Place, pointOf } from "../points.ts"
import { CLIENT_TOOLS, FIRST_CALLS, type Model, REPLIES, replyOf } from "./model.ts"

export const registry = CLIENT_TOOLS.map((name) => tool(name))

/** Where a life ends. */
export interface Point {
  readonly place: Place
  /** The how-manieth time that the place is reached, from 1. */
  readonly nth: number
}

/** What the parent knows when it is over. */
export interface Life extends Point {
  readonly name: string
  readonly session: string
  /** What it died at; `undefined`: it was never reached, and the backend closed in order. */
  readonly diedAt: string | undefined
  /** Appends that the store acknowledged, in order; not known of a backend that is killed from outside. */
  readonly acknowledged: ReadonlyArray<AcknowledgedRecord>
  /** Tools of the calls that the parent was told of, and of those that it replied to. */
  readonly published: ReadonlyArray<string>
  readonly replied: ReadonlyArray<string>
  /** Texts that the agent said it had saved: the prompt, and responses. */
  readonly saved: ReadonlyArray<string>
  /** The data of `run.finished`, if it was said. */
  readonly finished: Frame["data"] | undefined
}

export interface Stage {
  readonly model: Model
  /** The folder of MC_HOME and workspace. */
  readonly root: string
  /** The folder of the dying backend. */
  readonly folder: string
}

/** `initialize` with the client's tools. */
export const initialize = async (backend: Built): Promise<void> => {
  const { instance_id } = await backend.ask("initialize", {
    required_capabilities: ["client.tools"],
    client_tools: registry
  })
  backend.instance = String(instance_id)
}

const toolOf = (call: Frame): string => String(call.data["name"])

/** Lives until the point, or through a whole run if it is never reached. */
export const live = async ({ folder, model, root }: Stage, { nth, place }: Point): Promise<Life> => {
  const outside = place === "heard"
  const entry = outside ? [cli, "serve", "--stdio"] : [join(folder, "dyingBackend.mjs"), place, String(nth)]
  const backend = new Built({ root, settings: model.settings, entry })
  const closed = once(backend.child, "close")
  try {
    await initialize(backend)
    await backend.create()
    const calls = new Map<string, Frame>()
    const replied: Array<string> = []
    let diedAt: string | undefined
    let points = 0
    let accepted = 0
    const replyToNext = (): void => {
      const call = calls.get(REPLIES[replied.length] ?? "")
      if (call === undefined || calls.size < FIRST_CALLS || accepted < replied.length) return
      replied.push(toolOf(call))
      backend.reply(call, replyOf(toolOf(call)))
    }
    backend.onFrame((frame) => {
      const point = pointOf(frame)
      if (point === undefined) return
      if (point === "client.tool.call") calls.set(toolOf(frame), frame)
      if (point === "accepted") accepted += 1
      if (outside && ++points === nth) {
        diedAt = point
        backend.child.kill("SIGKILL")
      }
      if (diedAt === undefined) replyToNext()
    })
    const name = `${place} ${nth}`
    backend.send("turn.start", { session_id: backend.session, prompt: name })
    let gone = false
    void closed.then(() => (gone = true))
    await until("the end of the run", () => gone || backend.frames.some(({ event }) => event === "run.finished"))
    backend.child.stdin.end()
    await closed
    const { code, signal } = await backend.ended
    const acknowledged: Array<AcknowledgedRecord> = []
    for (const note of notesIn(backend.stderr)) {
      if ("acknowledged" in note) acknowledged.push(...note.acknowledged)
      if ("dies" in note) diedAt = note.dies
    }
    const expected = diedAt === undefined ? 0 : "SIGKILL"
    if ((signal ?? code) !== expected) throw new Error(`${name}: ended with ${signal ?? code}: ${backend.stderr}`)
    const saved = backend.frames.flatMap(({ data, event }) =>
      event === "input.saved" ? [name] : event === "message.reconcile" ? [String(data["text"])] : []
    )
    const finished = backend.frames.find(({ event }) => event === "run.finished")?.data
    const { session } = backend
    return { place, nth, name, session, diedAt, acknowledged, published: [...calls.keys()], replied, saved, finished }
  } finally {
    backend.child.kill("SIGKILL")
    await backend.ended
  }
}

/** Opens a stored session with a backend that dies over it, in or after the first commit that this makes. */
export const dieOpening = async ({ folder, model, root }: Stage, session: string, place: Place): Promise<void> => {
  const entry = [join(folder, "dyingBackend.mjs"), place, "1"]
  const backend = new Built({ root, settings: model.settings, entry })
  try {
    await initialize(backend)
    backend.send("session.open", { session_id: session })
    const { signal } = await backend.ended
    if (signal !== "SIGKILL") throw new Error(`it did not die while it opened the session: ${backend.stderr}`)
  } finally {
    backend.child.kill("SIGKILL")
    await backend.ended
  }
}

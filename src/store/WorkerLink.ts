/**
 * The protocol's side of the store's worker: one answer for each request, a bound on what may wait, and one end.
 * Nothing here blocks, whatever the worker is doing.
 */
import { Worker } from "node:worker_threads"
import { threadEnding } from "../platform/Exit.ts"
import type { Answer, AnswerMessage, RequestMessage, StoreRequest } from "./StoreMessages.ts"
import { type PackedAnswers, packRequests, unpackAnswers } from "./StoreWire.ts"

/** Requests that may wait for an answer. A run has a few dozen at most; more means that the disk does not keep up. */
const MAX_WAITING = 1024
/** Characters of records in them. */
const MAX_WAITING_SIZE = 67_108_864

/**
 * So many requests go on their way before the turn that makes them is over: the worker writes them while more are encoded,
 * and commits them with the rest. Each further message of the turn takes twice as many, since a message costs too.
 */
const EARLY = 8

interface Waiting {
  readonly size: number
  readonly settle: (answer: Answer) => void
}

const failed = (message: string): Answer => ({ ok: false, kind: "persistence", message })

/** What kind of error ended the worker; never its message, which may hold anything. */
const nameOf = (error: unknown): string =>
  error instanceof Error ? ("code" in error ? String(error.code) : error.name) : typeof error

const sizeOf = (request: StoreRequest): number =>
  request.op === "append" ? request.rows.reduce((sum, row) => sum + row.body.length, 0) : 0

export class WorkerLink {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #outgoing: Array<RequestMessage> = []
  /** The end of this turn has been arranged for. */
  #turning = false
  #early = EARLY
  #nextId = 0
  #size = 0
  #ended = false
  #stalled = false

  /** Starts the worker. `home` is the folder that holds the sessions. */
  constructor(url: URL, home: string) {
    // Nothing of the environment is needed, and what it might print must never reach the protocol's stdout.
    this.#worker = new Worker(url, { workerData: { home }, env: {}, execArgv: [], stdout: true, name: "store" })
    this.#worker.stdout.resume()
    this.#worker.on("message", (packed: PackedAnswers) => unpackAnswers(packed).forEach((one) => this.#answered(one)))
    this.#worker.on("error", (error) =>
      this.#end(`the store's worker failed (${nameOf(error)}): open the session again`)
    )
    this.#worker.on("exit", () => this.#end("the store is closed"))
  }

  /** True once the worker is gone: nothing sent to it is carried out any more. */
  get ended(): boolean {
    return this.#ended
  }

  /** True from the moment someone gave up waiting until the next answer: do not wait again. */
  get stalled(): boolean {
    return this.#stalled
  }

  /** Somebody gave up waiting for an answer. */
  gaveUp(): void {
    this.#stalled = true
  }

  /** Sends a request; `settle` is called exactly once, later, with its answer or with the reason why there is none. */
  send(request: StoreRequest, settle: (answer: Answer) => void): void {
    const size = sizeOf(request)
    const releases = request.op === "close" || request.op === "stop"
    if (this.#ended) {
      queueMicrotask(() => settle(failed("the store is closed")))
    } else if (!releases && (this.#waiting.size >= MAX_WAITING || this.#size + size > MAX_WAITING_SIZE)) {
      queueMicrotask(() => settle(failed("the disk does not keep up: too many writes wait for it")))
    } else {
      const id = this.#nextId++
      this.#waiting.set(id, { size, settle })
      this.#size += size
      this.#outgoing.push({ id, request })
      if (!this.#turning) {
        this.#turning = true
        queueMicrotask(() => this.#endTurn())
      } else if (this.#outgoing.length >= this.#early) {
        this.#early *= 2
        this.#post(true)
      }
    }
  }

  /** Ends the worker, also one that is in the middle of something. Its locks go with it. */
  async terminate(): Promise<void> {
    this.#end("the store is closed")
    await threadEnding(this.#worker.terminate())
  }

  /** The last message of a turn, also where nothing is left for it: then the worker commits what the turn asked for. */
  #endTurn(): void {
    this.#turning = false
    this.#early = EARLY
    this.#post(false)
  }

  #post(more: boolean): void {
    const requests = this.#outgoing
    this.#outgoing = []
    if (!this.#ended) this.#worker.postMessage(packRequests(requests, more))
  }

  #answered({ answer, ids }: AnswerMessage): void {
    this.#stalled = false
    for (const id of ids) this.#settle(id, answer)
  }

  #settle(id: number, answer: Answer): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    this.#waiting.delete(id)
    this.#size -= waiting.size
    waiting.settle(answer)
  }

  #end(message: string): void {
    if (this.#ended) return
    this.#ended = true
    const all = [...this.#waiting.values()]
    this.#waiting.clear()
    this.#size = 0
    for (const { settle } of all) settle(failed(message))
  }
}

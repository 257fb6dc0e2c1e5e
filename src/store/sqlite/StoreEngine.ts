/**
 * The store as its worker sees it: requests in, answers out, in the order of each session.
 *
 * Requests that arrived while the disk was busy are taken together, and the writes among them that belong to one session
 * are committed with one sync (group commit).
 */
import { setTimeout } from "node:timers/promises"
import { StoreFault, sessionNotFound } from "../StoreFault.ts"
import type {
  Answer,
  AnswerMessage,
  ListRequest,
  OpenRequest,
  Reply,
  RequestMessage,
  StoreRequest,
  WriteRequest
} from "../StoreMessages.ts"
import { HeldSessions } from "./HeldSessions.ts"
import { IndexFile } from "./IndexFile.ts"
import { checkWorkspace, openSession } from "./openSession.ts"
import { readChunk, readPage } from "./readSession.ts"
import { SessionFile } from "./SessionFile.ts"
import { currentRows, listed, listPage } from "./SessionLists.ts"
import { ensureFolder, folderExists, sessionPath } from "./StoreFolder.ts"
import { toFault } from "./sqliteFault.ts"

/** A session is reported busy only after so long: a list or a check in another process holds a file for moments. */
const BUSY_PATIENCE_MS = 300
const BUSY_RETRY_MS = 20

/** A write whose answer is owed. */
interface Waiting {
  readonly id: number
  readonly request: WriteRequest
}

/** Requests that are neither writes nor may have to wait for another process. */
type ImmediateRequest = Exclude<StoreRequest, WriteRequest | OpenRequest | ListRequest>

const isWrite = (request: StoreRequest): request is WriteRequest =>
  request.op === "append" || request.op === "title" || request.op === "selection" || request.op === "timeline"

const apply = (file: SessionFile, request: WriteRequest): void => {
  if (request.op === "append") file.append(request.rows)
  else if (request.op === "title") file.setTitle(request.title)
  else if (request.op === "selection") file.setSelection(request.provider, request.model)
  else file.setTimeline(request.callKey, request.body)
}

export class StoreEngine {
  readonly #home: string
  readonly #index: IndexFile
  readonly #held: HeldSessions
  readonly #post: (answers: ReadonlyArray<AnswerMessage>) => void
  /** The writes of the commits under way, by session. */
  readonly #batches = new Map<string, { readonly file: SessionFile; readonly waiting: Array<Waiting> }>()
  #scheduled = false
  /** More of the turn whose requests came last is on its way. */
  #more = false

  constructor(home: string, post: (answers: ReadonlyArray<AnswerMessage>) => void) {
    this.#home = home
    this.#index = new IndexFile(home)
    this.#held = new HeldSessions(this.#index)
    this.#post = post
  }

  /**
   * Takes requests, in the order of each session. Writes are committed once everything that has arrived with them, and all
   * of its turn, has been written. `more`: the rest of the turn follows.
   */
  receive(requests: ReadonlyArray<RequestMessage>, more: boolean): void {
    this.#more = more
    for (const { id, request } of requests) {
      if (isWrite(request)) this.#write({ id, request })
      else {
        // Whatever else is asked sees the writes that were asked for before it.
        this.#settleAll()
        this.#handle(id, request)
      }
    }
    if (more || this.#scheduled || this.#batches.size === 0) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      if (!this.#more) this.#settleAll()
    })
  }

  #write(waiting: Waiting): void {
    const { request } = waiting
    const batch = this.#batches.get(request.session)
    const file = batch?.file ?? this.#held.get(request.session)
    if (file === undefined) {
      this.#create(waiting)
      return
    }
    if (batch === undefined) this.#batches.set(request.session, { file, waiting: [waiting] })
    else batch.waiting.push(waiting)
    file.stage(() => apply(file, request), request.op !== "timeline")
  }

  #settleAll(): void {
    for (const { file, waiting } of this.#batches.values()) this.#settle(file, waiting)
    this.#batches.clear()
  }

  #handle(id: number, request: Exclude<StoreRequest, WriteRequest>): void {
    if (request.op === "open") this.#later(id, this.#open(request))
    else if (request.op === "list") this.#later(id, this.#list(request))
    else this.#now(id, () => this.#answerNow(request))
  }

  #answerNow(request: ImmediateRequest): Reply {
    switch (request.op) {
      case "read":
        return { op: request.op, value: readChunk(this.#fileOf(request.session), request) }
      case "page":
        return { op: request.op, value: readPage(this.#fileOf(request.session), request) }
      case "close":
        this.#held.release(request.session)
        return { op: request.op, value: null }
      case "stop":
        this.#held.close()
        return { op: request.op, value: null }
    }
  }

  /** Commits the writes of one session that waited together. */
  #settle(file: SessionFile, batch: ReadonlyArray<Waiting>): void {
    try {
      this.#post(answersOf(file, batch, file.settle()))
      this.#held.committed(
        file,
        batch.some(({ request }) => request.op !== "timeline")
      )
    } catch (error) {
      this.#post([{ ids: batch.map(({ id }) => id), answer: refused(toFault(error, file.path)) }])
    }
  }

  /** The first write of a session makes its file; if it cannot, the next one tries again. */
  #create({ id, request }: Waiting): void {
    const path = sessionPath(this.#home, request.session) ?? request.session
    try {
      const create = "create" in request ? request.create : null
      if (create === null) throw new StoreFault("persistence", `${path} is closed: open the session again`)
      ensureFolder(this.#home)
      const file = SessionFile.create(request.session, path, create, (created) => apply(created, request))
      this.#held.add(file)
      this.#answer(id, written(file, request))
    } catch (error) {
      this.#answer(id, refused(toFault(error, path)))
    }
  }

  async #open(request: OpenRequest): Promise<Reply> {
    const path = sessionPath(this.#home, request.session)
    const patience = performance.now() + BUSY_PATIENCE_MS
    for (;;) {
      const shared = this.#held.get(request.session)
      if (shared !== undefined) {
        checkWorkspace(shared, request.workspace)
        this.#held.share(request.session)
        return opened(shared)
      }
      if (path === undefined || !folderExists(this.#home)) throw sessionNotFound()
      try {
        const acknowledged = this.#index.row(request.session)?.lastSeq ?? 0
        const file = openSession(request.session, path, request.workspace, acknowledged)
        this.#held.add(file)
        return opened(file)
      } catch (error) {
        const fault = toFault(error, path)
        if (fault.kind !== "session_busy" || performance.now() > patience) throw fault
      }
      await setTimeout(BUSY_RETRY_MS)
    }
  }

  async #list(request: ListRequest): Promise<Reply> {
    this.#held.flush()
    const rows = await currentRows(this.#home, this.#index, request.workspace, (id) => this.#held.get(id))
    return { op: "list", value: listPage(listed(rows, request.workspace), request) }
  }

  #fileOf(session: string): SessionFile {
    const file = this.#held.get(session)
    if (file === undefined) throw new StoreFault("persistence", `session ${session} is not open: open it again`)
    return file
  }

  #now(id: number, work: () => Reply): void {
    try {
      this.#answer(id, { ok: true, reply: work() })
    } catch (error) {
      this.#answer(id, refused(toFault(error, this.#home)))
    }
  }

  #later(id: number, work: Promise<Reply>): void {
    work.then(
      (reply) => this.#answer(id, { ok: true, reply }),
      (error: unknown) => this.#answer(id, refused(toFault(error, this.#home)))
    )
  }

  #answer(id: number, answer: Answer): void {
    this.#post([{ ids: [id], answer }])
  }
}

const refused = (fault: StoreFault): Answer => ({ ok: false, kind: fault.kind, message: fault.message })

const written = (file: SessionFile, request: WriteRequest): Answer => ({
  ok: true,
  reply:
    request.op === "append" ? { op: "append", value: { revision: file.revision } } : { op: request.op, value: null }
})

/** Together, so that whoever appends next on hearing of it shares the next commit; and equal ones as one. */
const answersOf = (
  file: SessionFile,
  batch: ReadonlyArray<Waiting>,
  faults: ReadonlyArray<StoreFault | null>
): ReadonlyArray<AnswerMessage> => {
  const made = new Map<WriteRequest["op"], Array<number>>()
  const answers: Array<AnswerMessage> = []
  for (const [at, { id, request }] of batch.entries()) {
    const fault = faults[at]
    const same = made.get(request.op)
    if (fault != null) answers.push({ ids: [id], answer: refused(fault) })
    else if (same !== undefined) same.push(id)
    else {
      const ids = [id]
      made.set(request.op, ids)
      answers.push({ ids, answer: written(file, request) })
    }
  }
  return answers
}

const opened = (file: SessionFile): Reply => ({
  op: "open",
  value: {
    revision: file.revision,
    title: file.state.title,
    selection: file.state.selection,
    delegated: file.state.delegated,
    permissions: file.state.permissions
  }
})

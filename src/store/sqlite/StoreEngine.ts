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
  #queue: Array<RequestMessage> = []
  #scheduled = false

  constructor(home: string, post: (answers: ReadonlyArray<AnswerMessage>) => void) {
    this.#home = home
    this.#index = new IndexFile(home)
    this.#held = new HeldSessions(this.#index)
    this.#post = post
  }

  /** Takes requests. They are carried out once everything that has arrived with them is in the queue. */
  receive(requests: ReadonlyArray<RequestMessage>): void {
    this.#queue.push(...requests)
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#drain())
  }

  #drain(): void {
    this.#scheduled = false
    const queue = this.#queue
    this.#queue = []
    const batches = new Map<string, Array<Waiting>>()
    for (const { id, request } of queue) {
      if (isWrite(request)) {
        const batch = batches.get(request.session)
        if (batch === undefined) batches.set(request.session, [{ id, request }])
        else batch.push({ id, request })
        continue
      }
      // Whatever else is asked sees the writes that were asked for before it.
      for (const [session, batch] of batches) this.#commit(session, batch)
      batches.clear()
      this.#handle(id, request)
    }
    for (const [session, batch] of batches) this.#commit(session, batch)
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
  #commit(session: string, batch: ReadonlyArray<Waiting>): void {
    const file = this.#held.get(session)
    if (file === undefined) this.#create(session, batch)
    else this.#extend(file, batch)
  }

  #extend(file: SessionFile, batch: ReadonlyArray<Waiting>): void {
    try {
      const durable = batch.some(({ request }) => request.op !== "timeline")
      const faults = file.commit(
        batch.map(
          ({ request }) =>
            () =>
              apply(file, request)
        ),
        durable
      )
      // Together, so that whoever appends next on hearing of it shares the next commit.
      this.#post(
        batch.map(({ id, request }, at) => {
          const fault = faults[at]
          return { id, answer: fault == null ? written(file, request) : refused(fault) }
        })
      )
      if (durable) this.#held.changed(file)
    } catch (error) {
      const answer = refused(toFault(error, file.path))
      this.#post(batch.map(({ id }) => ({ id, answer })))
    }
  }

  /** The first write of a session makes its file; if it cannot, the next one tries again. */
  #create(session: string, batch: ReadonlyArray<Waiting>): void {
    const [first, ...others] = batch
    if (first === undefined) return
    const { id, request } = first
    const path = sessionPath(this.#home, session) ?? session
    try {
      const create = "create" in request ? request.create : null
      if (create === null) throw new StoreFault("persistence", `${path} is closed: open the session again`)
      ensureFolder(this.#home)
      const file = SessionFile.create(session, path, create, (created) => apply(created, request))
      this.#held.add(file)
      this.#answer(id, written(file, request))
    } catch (error) {
      this.#answer(id, refused(toFault(error, path)))
    }
    if (others.length > 0) this.#commit(session, others)
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
    this.#post([{ id, answer }])
  }
}

const refused = (fault: StoreFault): Answer => ({ ok: false, kind: fault.kind, message: fault.message })

const written = (file: SessionFile, request: WriteRequest): Answer => ({
  ok: true,
  reply:
    request.op === "append" ? { op: "append", value: { revision: file.revision } } : { op: request.op, value: null }
})

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

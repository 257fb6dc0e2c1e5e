/** Where an open file really is, and a path that leads to exactly it whatever happens to its name. */
import { type FileHandle, readlink, realpath, stat, statfs } from "node:fs/promises"

/** `PROC_SUPER_MAGIC`: the type that `statfs` gives for a procfs, wherever it is mounted. */
const PROC_MAGIC = 0x9fa0

const isLinux = process.platform === "linux"

/**
 * A path to the open file itself, not to its name: a directory so named cannot be exchanged between a check and its use.
 * It works from child processes too. Only Linux has one; elsewhere the given path has to do.
 */
export const pathOfHandle = (handle: FileHandle, otherwise: string): string =>
  isLinux ? `/proc/${process.pid}/fd/${handle.fd}` : otherwise

/**
 * The real path of an open file, read from the handle. `undefined`: it cannot be told, because the file was removed or
 * exchanged meanwhile.
 */
export const realPathOfHandle = async (handle: FileHandle, opened: string): Promise<string | undefined> => {
  const real = isLinux ? await readlink(pathOfHandle(handle, opened)) : await realpath(opened)
  const [own, named] = await Promise.all([
    handle.stat({ bigint: true }),
    stat(real, { bigint: true }).catch(() => null)
  ])
  return named !== null && own.ino === named.ino && own.dev === named.dev ? real : undefined
}

/** Whether an open file belongs to a procfs. */
export const isProcessFile = async (handle: FileHandle): Promise<boolean> =>
  isLinux && (await statfs(pathOfHandle(handle, ""))).type === PROC_MAGIC

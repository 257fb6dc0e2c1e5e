/** CPU time of the calling thread. */

/**
 * Milliseconds of CPU that this thread has used, with the grain of the system's accounting (1 to 4 ms). Nodes that
 * cannot tell (before 23.9) give the time that has passed instead: an upper bound.
 */
export const threadCpuMillis = (): number => {
  if (typeof process.threadCpuUsage !== "function") return performance.now()
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}

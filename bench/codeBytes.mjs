// How much of the heap is compiled code and what belongs to it: the engine goes on compiling for thousands of calls, and that
// is not what a call leaves behind.
import { getHeapSpaceStatistics } from "node:v8"

const ofCode = new Set(["code_space", "code_large_object_space", "trusted_space", "trusted_large_object_space"])

export const codeBytes = () =>
  getHeapSpaceStatistics().reduce((sum, space) => sum + (ofCode.has(space.space_name) ? space.space_used_size : 0), 0)

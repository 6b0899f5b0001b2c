import type { Surroundings } from '../config/load.ts'

/** Which tools there are; the other flags are about the run. */
export function surroundingsOf({
  config,
  folder,
  strict,
  probeUnsandboxed,
  cache,
}: Surroundings): Surroundings {
  return {
    ...(config !== undefined && { config }),
    ...(folder && { folder }),
    ...(strict !== undefined && { strict }),
    ...(probeUnsandboxed !== undefined && { probeUnsandboxed }),
    ...(cache !== undefined && { cache }),
  }
}

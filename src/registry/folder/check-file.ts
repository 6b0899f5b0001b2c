import type { LookedAt } from '../cache/stamp.ts'
import type { Home } from './home.ts'
import type { Known } from './remember.ts'
import { requireUnchanged } from './unchanged.ts'

/** Throws, and tells it, where the file of a tool, or the program that its manifest names, is not the one that was found. */
export async function checkFile(
  { folder, onStale }: Home,
  known: Known,
  program?: string,
): Promise<LookedAt> {
  try {
    return await requireUnchanged(folder, known, program)
  } catch (error) {
    onStale()
    throw error
  }
}

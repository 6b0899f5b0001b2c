import type { Home } from './home.ts'
import type { Known } from './remember.ts'
import { requireUnchanged } from './unchanged.ts'

/** Throws, and tells it, where the file of a tool is not the one that was found. */
export async function checkFile({ folder, onStale }: Home, known: Known): Promise<void> {
  try {
    await requireUnchanged(folder, known)
  } catch (error) {
    onStale()
    throw error
  }
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isRunId } from './run-id.ts'

/** Whether a word is the id of something without a folder: only then executions that are records in a file are looked for. */
export function hasNoFolder(root: string, word: string): boolean {
  return isRunId(word) && !existsSync(join(root, word))
}

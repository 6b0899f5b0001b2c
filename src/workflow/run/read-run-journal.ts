import { constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { openOwnFile, readJournal } from '../engines/embedded/journal/read-journal.ts'
import type { JournalRecord } from '../engines/embedded/journal/record.ts'

/** The file of a run that holds what its workflow has done. */
export const JOURNAL = 'journal.jsonl'

/** What the journal of a run holds, whoever writes it at the moment; nothing where there is none yet. Throws CONFIG for what is no journal of ours. */
export async function readRunJournal({ folder }: RunPaths): Promise<readonly JournalRecord[]> {
  const path = join(folder, JOURNAL)
  if (!existsSync(path)) return []
  const file = await openOwnFile(path, constants.O_RDONLY)
  try {
    const records: JournalRecord[] = []
    if ((await file.stat()).size > 0)
      await readJournal(file, path, (record) => {
        records.push(record)
      })
    return records
  } finally {
    await file.close()
  }
}

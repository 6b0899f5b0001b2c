import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { ToolError } from '../../../../contract/tool-error.ts'
import { diskProblem } from '../../../../runner/log/disk-problem.ts'
import { readWholeLines } from '../../../../runner/log/whole-lines.ts'
import { isRecord, JOURNAL_VERSION, LONGEST_RECORD } from './record.ts'
import type { JournalRecord } from './record.ts'

/** The first line of every journal. */
export const HEADER = `{"t":"journal","v":${JOURNAL_VERSION}}\n`

const { O_NOFOLLOW, O_NONBLOCK } = constants
const LINE_FEED = 0x0a

/** Opens a file for a journal. Links, pipes and folders, which would lead elsewhere, are refused as CONFIG; ENOENT and EEXIST are thrown as they are. */
export async function openOwnFile(path: string, flags: number): Promise<FileHandle> {
  const { open } = await import('node:fs/promises')
  try {
    const file = await open(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EEXIST') throw error
    if (code !== 'ELOOP' && code !== 'ENXIO' && code !== 'EISDIR')
      throw diskProblem(error, `cannot open ${path}`)
  }
  throw new ToolError('CONFIG', `${path} is no journal: it is a link, a folder or a device`, {
    suggestion: 'Move it away',
  })
}

/** Reads the records of a journal from its beginning, and tells where the last whole line ends. Throws CONFIG for a newer version, and for a line that nobody of us wrote, with its number. */
export async function readJournal(
  file: FileHandle,
  path: string,
  take: (record: JournalRecord) => void,
): Promise<number> {
  let number = 0
  let end = 0
  for await (const piece of readWholeLines(file, 0)) {
    for (let from = 0; from < piece.bytes.length;) {
      const to = piece.bytes.indexOf(LINE_FEED, from)
      number += 1
      if (number === 1) checkHeader(piece.bytes.toString('utf8', from, to), path)
      else take(parseRecord(piece.bytes, from, to, path, number))
      from = to + 1
    }
    end = piece.end
  }
  return end
}

/** Checks the first line of a journal. Throws CONFIG for a newer version, and for what is no journal at all. */
export function checkHeader(line: string, path: string): void {
  const value = parse(line) as { readonly t?: unknown; readonly v?: unknown } | null | undefined
  if (value?.t !== 'journal' || !Number.isSafeInteger(value.v))
    throw new ToolError('CONFIG', `${path} is no journal: its first line is not one of ours`, {
      suggestion: 'Move the file away',
      details: { file: path, line: 1 },
    })
  if (value.v !== JOURNAL_VERSION)
    throw new ToolError(
      'CONFIG',
      `${path} was written by a newer version: its form is ${String(value.v)}, and this one knows ${JOURNAL_VERSION}`,
      {
        suggestion: 'Use the version of toolable that wrote it, or a newer one',
        details: { file: path, version: value.v },
      },
    )
}

function parseRecord(
  bytes: Buffer,
  from: number,
  to: number,
  path: string,
  number: number,
): JournalRecord {
  const value = to - from > LONGEST_RECORD ? undefined : parse(bytes.toString('utf8', from, to))
  if (isRecord(value)) return value
  throw new ToolError(
    'CONFIG',
    `line ${number} of ${path} is no record of a workflow: something else has written there`,
    {
      suggestion: `Look at the line: sed -n ${number}p '${path}'. Put the file back from a copy, or move it away`,
      details: { file: path, line: number },
    },
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

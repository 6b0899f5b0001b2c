import { ToolError } from '../../../contract/tool-error.ts'

const MOST_LINES_NAMED = 10

/** Replaces a piece of text that stands there once, or everywhere; gives the lines where it stood. Throws with advice where it stands nowhere, or more than once. */
export function replaceOnce(
  path: string,
  text: string,
  { old, put, all }: { readonly old: string; readonly put: string; readonly all: boolean },
): { readonly text: string; readonly lines: readonly number[] } {
  if (old === put)
    throw new ToolError(
      'INVALID_INPUT',
      "'old' and 'new' are the same: there is nothing to change",
      { field: 'new' },
    )
  // Who reads a file by lines does not see how they end.
  const [sought, written] =
    text.includes(old) || !text.includes('\r\n') ? [old, put] : [withReturns(old), withReturns(put)]
  const pieces = text.split(sought)
  const lines = linesOf(pieces, sought)
  if (lines.length === 0) throw notThere(path, text, old)
  if (lines.length > 1 && !all) {
    throw new ToolError(
      'CONFLICT',
      `the text stands ${lines.length} times in '${path}': in lines ${lines.slice(0, MOST_LINES_NAMED).join(', ')}${lines.length > MOST_LINES_NAMED ? ' and more' : ''}`,
      {
        field: 'old',
        details: { path, lines: lines.slice(0, 100) },
        suggestion:
          "Give more of the text around it in 'old', so that it stands there once, or set 'all' to true",
      },
    )
  }
  return { text: pieces.join(written), lines }
}

function linesOf(pieces: readonly string[], sought: string): number[] {
  const inside = countLines(sought)
  const lines: number[] = []
  let line = 1
  for (const piece of pieces.slice(0, -1)) {
    lines.push((line += countLines(piece)))
    line += inside
  }
  return lines
}

function notThere(path: string, text: string, old: string): ToolError {
  const plain = (line: string): string => line.replace(/\s+/g, ' ').trim()
  const first = old
    .split('\n')
    .map(plain)
    .find((line) => line !== '')
  const near =
    first === undefined ? -1 : text.split('\n').findIndex((line) => plain(line) === first)
  return new ToolError(
    'NOT_FOUND',
    `the text does not stand in '${path}'${near === -1 ? '' : `; line ${near + 1} is like its first line, but for the spaces or what follows`}`,
    {
      field: 'old',
      suggestion:
        near === -1
          ? `Read the file and copy the text from it exactly: read_file ${JSON.stringify({ path })}`
          : `Copy the text from the file exactly: read_file ${JSON.stringify({ path, offset: Math.max(0, near - 2), limit: 20 })}`,
    },
  )
}

function withReturns(text: string): string {
  return text.replace(/\r?\n/g, '\r\n')
}

function countLines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

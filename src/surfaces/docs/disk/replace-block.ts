import { ToolError } from '../../../contract/tool-error.ts'
import { blockMarks } from '../mark.ts'

/** A text with the block of a program in the place of the one that it had, or at its end; everything else stays byte for byte. Throws CONFLICT where the marks are not one pair. */
export function replaceBlock(text: string, block: string, program: string, file: string): string {
  const found = findMarks(text, program)
  const lineEnd = lineEndOf(text)
  const fresh = block.trimEnd().replaceAll('\n', lineEnd)
  if (found.length === 0) return `${text}${gapAfter(text, lineEnd)}${fresh}${lineEnd}`
  const [begin, end, ...more] = found
  if (
    begin?.kind !== 'begin' ||
    end?.kind !== 'end' ||
    more.length > 0 ||
    found.some(({ whole }) => !whole)
  )
    throw damaged(found, program, file)
  return text.slice(0, begin.start) + fresh + text.slice(end.stop)
}

type Mark = {
  readonly kind: string
  readonly start: number
  readonly stop: number
  readonly line: number
  /** Exactly as it was written. */ readonly whole: boolean
}

// Whatever was meant to be a mark counts, so that a damaged one is not taken for text.
function findMarks(text: string, program: string): Mark[] {
  const { begin, end } = blockMarks(program)
  return [
    ...text.matchAll(
      new RegExp(
        `^[ \\t\\ufeff]*(<!-*[ \\t]*toolable:${program}[ \\t]+(begin|end)\\b[^\\r\\n]*?)[ \\t]*(?=\\r?$)`,
        'gm',
      ),
    ),
  ].map((match) => {
    const start = match.index + match[0].indexOf('<')
    return {
      kind: match[2]!,
      start,
      stop: start + match[1]!.length,
      line: text.slice(0, start).split('\n').length,
      whole: match[1] === begin || match[1] === end,
    }
  })
}

// That of most lines: the first one may be an accident.
function lineEndOf(text: string): string {
  const all = text.match(/\r?\n/g) ?? []
  return all.filter((end) => end === '\r\n').length * 2 > all.length ? '\r\n' : '\n'
}

function gapAfter(text: string, lineEnd: string): string {
  if (text.replace('\ufeff', '') === '') return ''
  if (/\n\s*\n$/.test(text)) return ''
  return text.endsWith('\n') ? lineEnd : lineEnd + lineEnd
}

function damaged(found: readonly Mark[], program: string, file: string): ToolError {
  const { begin, end } = blockMarks(program)
  const lines = found
    .map(({ kind, line, whole }) => `${whole ? '' : 'a damaged '}${kind} in line ${line}`)
    .join(', ')
  return new ToolError(
    'CONFLICT',
    `the marks of ${program} in ${file} are not one pair of begin and end (${lines}), so the file was left alone`,
    {
      details: { path: file, marks: found.map(({ kind, line, whole }) => ({ kind, line, whole })) },
      suggestion: {
        fix: `Leave one line '${begin}' and below it one line '${end}', or remove them all and run the command again`,
      },
    },
  )
}

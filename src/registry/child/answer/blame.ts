import { stripVTControlCharacters } from 'node:util'
import { parseObject } from '../../../contract/json.ts'
import type { ErrorObject } from '../../../contract/outcome.ts'
import { readEnvelope } from './read-envelope.ts'

/** What stderr says about the end of a program: the words that matter, and, where something is missing on the machine, the code and what to do. */
export type Blame = {
  readonly message: string
  readonly code?: 'DEPENDENCY'
  readonly fix?: string
}

const LONGEST_MESSAGE = 1000
const MOST_JSON = 64 * 1024

/** The words on stderr that say what went wrong; undefined where it is empty. */
export function blame(stderr: string): Blame | undefined {
  const lines = stripVTControlCharacters(stderr)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== '')
  if (lines.length === 0) return undefined
  const message = pickLine(lines).slice(0, LONGEST_MESSAGE)
  for (const { pattern, fix } of MISSING) {
    const found = lines.map((line) => pattern.exec(line)).find((match) => match !== null)
    if (found)
      return {
        message: found.input.trim().slice(0, LONGEST_MESSAGE),
        code: 'DEPENDENCY',
        fix: fix(found[1] ?? ''),
      }
  }
  return { message }
}

/** The error that a program wrote on stderr as JSON, when it ended badly without telling it on stdout. */
export function errorOnStderr({
  stderr,
  status,
}: {
  readonly stderr: string
  readonly status: number | null
}): ErrorObject | undefined {
  const lines = stderr.trim().split('\n')
  const candidates = [lines.at(-1)!, ...lines.slice(0, -1).reverse()]
    .filter((line) => line.startsWith('{') && line.length <= MOST_JSON)
    .slice(0, 20)
  for (const text of [stderr.trim().slice(0, MOST_JSON), ...candidates]) {
    const outcome = text.startsWith('{')
      ? readEnvelope(parseObject(text), status ?? undefined)
      : undefined
    if (outcome?.ok === false) return outcome.error
  }
  return undefined
}

function pickLine(lines: readonly string[]): string {
  const last = lines.at(-1)!.trim()
  if (lines.some((line) => line.startsWith('Traceback (most recent call last)')))
    return lastUnindented(lines)
  const thrown = lines.find((line) =>
    /^(?:Uncaught )?[A-Z]\w*(?:Error|Exception)\b.*: \S/.test(line),
  )
  if (thrown !== undefined) return thrown
  if (lines.length <= 3) return lines.map((line) => line.trim()).join('\n')
  return (
    lines
      .find((line) => /^(?:[\w./-]+: )*(?:error|fatal|panic|fehler)\b/i.test(line.trim()))
      ?.trim() ?? last
  )
}

// Behind the last frame of a traceback stands the error, which may have several lines; its first one names it.
function lastUnindented(lines: readonly string[]): string {
  const lastFrame = lines.findLastIndex((line) => /^\s+File "/.test(line))
  return lines.slice(lastFrame + 1).find((line) => !/^\s/.test(line)) ?? lines.at(-1)!.trim()
}

const MISSING: readonly { readonly pattern: RegExp; fix(name: string): string }[] = [
  {
    pattern: /ModuleNotFoundError: No module named '(\w[\w.-]*)'/,
    fix: (name) => `pip install ${name.split('.')[0]!}`,
  },
  {
    pattern: /Cannot find (?:module|package) '([\w@][\w@./-]*)'/,
    fix: (name) => `npm install ${name}`,
  },
  {
    pattern: /Can't locate ([\w/]+)\.pm in @INC/,
    fix: (name) => `cpan ${name.replaceAll('/', '::')}`,
  },
  { pattern: /cannot load such file -- (\w[\w./-]*)/, fix: (name) => `gem install ${name}` },
  {
    pattern: /: (?:line )?\d+: ([\w.+-]+): (?:command )?not found$/,
    fix: (name) => `Install ${name}, or add its folder to PATH`,
  },
  {
    pattern: /env: [‘'"]?([\w.+-]+)[’'"]?: No such file or directory/,
    fix: (name) => `Install ${name}, or add its folder to PATH`,
  },
]

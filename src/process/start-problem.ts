import { quoteForShell } from '../contract/quote-for-shell.ts'
import { ToolError } from '../contract/tool-error.ts'
import type { ChildOptions } from './child-type.ts'

const LARGEST = 131_071

/** Why a child could not be started, in words: what is missing, forbidden or too large, and what to do about it. */
export async function explainStart(
  error: NodeJS.ErrnoException,
  { command: [program], cwd }: ChildOptions,
): Promise<ToolError> {
  const { stat, open } = await import('node:fs/promises')
  const named = JSON.stringify(program)
  if (error.code === 'ERR_INVALID_ARG_VALUE') {
    return new ToolError(
      'INVALID_INPUT',
      `${named} cannot be started: an argument or a variable contains a NUL character`,
      { suggestion: 'Remove the character \\u0000 from the input', cause: error },
    )
  }
  if (error.code === 'E2BIG') {
    return new ToolError(
      'INVALID_INPUT',
      `${named} cannot be started: its arguments are too large; the system takes at most ${LARGEST} bytes for each`,
      { suggestion: 'Give the input by stdin or by file', cause: error },
    )
  }
  const folder = await stat(cwd).catch(() => undefined)
  if (!folder?.isDirectory()) {
    return new ToolError(
      'INVALID_PATH',
      `${named} cannot be started in ${cwd}: there is no such directory`,
      { suggestion: `mkdir -p ${quoteForShell(cwd)}`, cause: error },
    )
  }
  if (error.code === 'ENOENT') {
    const interpreter = program.includes('/') ? await readInterpreter(program, open) : undefined
    if (interpreter !== undefined)
      return new ToolError(
        'CONFIG',
        `${named} cannot be started: its first line names the interpreter ${interpreter}, which is not on this machine`,
        {
          suggestion: `Install ${interpreter}, or change the first line of ${program}`,
          cause: error,
        },
      )
    return new ToolError('CONFIG', `The program ${named} was not found`, {
      suggestion: program.includes('/')
        ? `Check the path: ls -l ${quoteForShell(program)}`
        : `Install ${program}, or add its folder to PATH`,
      cause: error,
    })
  }
  if (error.code === 'EACCES' || error.code === 'EPERM') {
    return new ToolError('PERMISSION', `${named} may not be executed`, {
      suggestion: `chmod +x ${quoteForShell(program)}`,
      cause: error,
    })
  }
  const busy =
    error.code === 'EAGAIN' ||
    error.code === 'EMFILE' ||
    error.code === 'ENFILE' ||
    error.code === 'ENOMEM'
  return new ToolError(
    busy ? 'DEPENDENCY' : 'CONFIG',
    `${named} cannot be started: ${error.message}`,
    {
      suggestion: busy
        ? 'Run fewer programs at the same time, then try again'
        : `Run it by hand: ${quoteForShell(program)}`,
      cause: error,
    },
  )
}

async function readInterpreter(
  program: string,
  open: typeof import('node:fs/promises').open,
): Promise<string | undefined> {
  try {
    const file = await open(program)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0)
      return /^#!\s*(\S+)/.exec(buffer.toString('utf8', 0, bytesRead))?.[1]
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}

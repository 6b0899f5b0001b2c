import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { toToolError } from '../../call/failure.ts'
import type { Servable } from '../../call/servable.ts'
import type { TakenProgram } from '../../surfaces/cli/run.ts'
import type { LookProblem, SubjectFile } from './answer.ts'
import { askProgram } from './ask-program.ts'
import { capturedIo, quietHost } from './captured-io.ts'
import { loadBundle } from './load-bundle.ts'
import { rehearsalOf } from './warm-up.ts'

// A process of its own, because loading a program runs its modules: node look.js ask|trace|warm <subject> <where to write>
const [mode, subject, out] = process.argv.slice(2) as [string, string, string]
const exit = process.exit.bind(process)
const {
  program,
  bundle,
  script: file,
  length,
} = JSON.parse(readFileSync(subject, 'utf8')) as SubjectFile
const bundled = { text: readFileSync(file, 'latin1'), length }
process.argv = [process.execPath, program]
await (mode === 'ask' ? ask() : mode === 'trace' ? trace() : warm())

async function ask(): Promise<void> {
  let taken = false
  let needsZod = false
  const give = (found: object): never => {
    put(JSON.stringify(found))
    return exit(0)
  }
  const refuse = (thrown: unknown): never => {
    const { code, message, suggestion } = toToolError(thrown)
    return give({
      problem: {
        code,
        message,
        ...(thrown instanceof Error && thrown.stack !== undefined && { stack: thrown.stack }),
        ...(suggestion && { suggestion }),
      },
    } satisfies LookProblem)
  }
  process.on('uncaughtException', refuse)
  process.once('beforeExit', () =>
    refuse(new Error('the entry waits for something that never happens')),
  )
  const { start } = loadBundle(bundled, program, bundle, {
    verified: false,
    onZod: () => (needsZod ||= !taken),
    take: async (given) => {
      taken = true
      try {
        give({ ...(await askProgram(given as TakenProgram)), needsZod })
      } catch (error) {
        refuse(error)
      }
    },
  })
  await start().catch(refuse)
}

// Which chunks a call asks for.
async function trace(): Promise<void> {
  const { asked, start } = loadBundle(bundled, program, bundle, {
    verified: true,
    take: async (given) => {
      const { shown, lines } = rehearsalOf(given as TakenProgram)
      for (const argv of lines) await rehearse(given as TakenProgram, shown, argv)
      put(JSON.stringify([...asked]))
      exit(0)
    },
  })
  await start()
}

// What V8 has compiled when a call is over is what the next call needs.
async function warm(): Promise<void> {
  const { script, start } = loadBundle(bundled, program, bundle, {
    verified: true,
    take: async (given) => {
      const { shown, lines } = rehearsalOf(given as TakenProgram)
      for (const argv of lines.slice(0, -1)) await rehearse(given as TakenProgram, shown, argv)
      process.argv = [process.execPath, program, ...lines.at(-1)!]
      process.on('exit', () => put(script.createCachedData()))
      await (given as TakenProgram).run(shown)
    },
  })
  await start()
}

async function rehearse(
  { main, makeToolset, rehearsal }: TakenProgram,
  shown: Servable,
  argv: readonly string[],
): Promise<void> {
  const { io } = rehearsal ? capturedIo(process.env, process.cwd()) : capturedIo({})
  await main(shown, argv, io, quietHost(makeToolset))
}

// Whole or not at all: V8 trusts what it is given as code.
function put(content: string | Uint8Array): void {
  writeFileSync(`${out}.part`, content)
  renameSync(`${out}.part`, out)
}

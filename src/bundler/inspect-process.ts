/**
 * The child process that inspects a program: `node look.js ask|trace|warm <subject> <output>`. It runs
 * the modules of the program, so it is a separate process.
 */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { CapturedProgram } from '../cli/run.ts'
import { toToolError } from '../core/errors.ts'
import type { Servable } from '../core/provider.ts'
import { compact } from '../util/values.ts'
import {
  createCapturedIo,
  createQuietHost,
  createWarmup,
  inspectProgram,
  loadBundle,
} from './inspect-program.ts'
import type { InspectedProgramFile, InspectionProblem } from './inspect.ts'

const [mode, subject, out] = process.argv.slice(2) as [string, string, string]
const exitProcess = process.exit.bind(process)
const {
  program,
  bundle,
  script: file,
  length,
} = JSON.parse(readFileSync(subject, 'utf8')) as InspectedProgramFile
const programScript = { text: readFileSync(file, 'latin1'), length }
process.argv = [process.execPath, program]
const MODES: { readonly [mode: string]: () => unknown } = { ask: inspect, trace: traceCalls }
await (MODES[mode] ?? warmUp)()

async function inspect(): Promise<void> {
  let taken = false
  let needsZod = false
  const give = (found: object): never => {
    writeOutput(JSON.stringify(found))
    return exitProcess(0)
  }
  const refuse = (thrown: unknown): never => {
    const { code, message, suggestion } = toToolError(thrown)
    return give({
      problem: compact({
        code,
        message,
        stack: thrown instanceof Error ? thrown.stack : undefined,
        suggestion,
      }),
    } satisfies InspectionProblem)
  }
  process.on('uncaughtException', refuse)
  process.once('beforeExit', () =>
    refuse(new Error('the entry waits for something that never happens')),
  )
  const { start } = loadBundle(programScript, program, bundle, {
    verified: false,
    onZod: () => (needsZod ||= !taken),
    take: async (captured) => {
      taken = true
      try {
        give({ ...(await inspectProgram(captured as CapturedProgram)), needsZod })
      } catch (error) {
        refuse(error)
      }
    },
  })
  await start().catch(refuse)
}

// Records which chunks a call loads.
async function traceCalls(): Promise<void> {
  const { asked, start } = loadBundle(programScript, program, bundle, {
    verified: true,
    take: async (captured) => {
      const { shown, lines } = createWarmup(captured as CapturedProgram)
      for (const argv of lines) await runWarmupCommand(captured as CapturedProgram, shown, argv)
      writeOutput(JSON.stringify([...asked]))
      exitProcess(0)
    },
  })
  await start()
}

// The code that V8 has compiled after a call is what the next call needs.
async function warmUp(): Promise<void> {
  const { script, start } = loadBundle(programScript, program, bundle, {
    verified: true,
    take: async (captured) => {
      const { shown, lines } = createWarmup(captured as CapturedProgram)
      for (const argv of lines.slice(0, -1))
        await runWarmupCommand(captured as CapturedProgram, shown, argv)
      process.argv = [process.execPath, program, ...lines.at(-1)!]
      process.on('exit', () => writeOutput(script.createCachedData()))
      await (captured as CapturedProgram).run(shown)
    },
  })
  await start()
}

async function runWarmupCommand(
  { main, makeToolset, rehearsal }: CapturedProgram,
  shown: Servable,
  argv: readonly string[],
): Promise<void> {
  const { io } = rehearsal ? createCapturedIo(process.env, process.cwd()) : createCapturedIo({})
  await main(shown, argv, io, createQuietHost(makeToolset))
}

// Atomic, because V8 does not check compiled code.
function writeOutput(content: string | Uint8Array): void {
  writeFileSync(`${out}.part`, content)
  renameSync(`${out}.part`, out)
}

import { basename, extname } from 'node:path'
import { withoutShim } from '../../process/interpreter.ts'
import { findSandbox } from '../../process/sandbox/find-sandbox.ts'
import type { Booth } from './ask.ts'
import { sharedGate } from './gate.ts'
import { interview } from './interview.ts'
import { listNeighbours } from './project.ts'
import { explainNoSandbox, weightiest } from './refusals.ts'
import type { Candidate, ProbeOptions, Verdict } from './verdict.ts'

/** Asks a candidate what it is, by running it in a sandbox with a few questions. Never throws. Nothing is changed by it and nothing stays running. */
export async function probe(candidate: Candidate, options: ProbeOptions): Promise<Verdict> {
  const {
    path,
    command: [program, ...args],
  } = candidate
  const sandbox = await findSandbox(options.env)
  if (!sandbox.available && !options.unsandboxed)
    return weightiest([explainNoSandbox(sandbox.problem)])
  const booth: Booth = {
    candidate: { name: basename(path, extname(path)), ...candidate },
    options,
    gate: sharedGate(options.concurrency),
    command: [await withoutShim(program, options.env), ...args],
    readable: sandbox.available
      ? [...listNeighbours(path), ...(candidate.readable ?? [])]
      : undefined,
    folder: undefined,
  }
  return sandbox.available
    ? interview(booth)
    : inEmptyFolder((folder) => interview({ ...booth, folder }))
}

async function inEmptyFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const { mkdtemp, rm } = await import('node:fs/promises')
  const { tmpdir } = await import('node:os')
  const folder = await mkdtemp(`${tmpdir()}/toolable-probe-`)
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

import { existsSync } from 'node:fs'
import { findProgram } from '../find-program.ts'
import type { Agent, Surroundings } from './agent.ts'

/** What shows that an agent is used on this machine, in words; undefined where nothing does. */
export function detect(agent: Agent, surroundings: Surroundings): string | undefined {
  const { paths, programs } = agent.traces(surroundings)
  const path = paths.find((candidate) => existsSync(candidate))
  if (path !== undefined) return path
  return programs
    .map((program) => findProgram(program, surroundings))
    .find((found) => found !== undefined)
}

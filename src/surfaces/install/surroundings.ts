import { homedir } from 'node:os'
import { host } from '../../call/host.ts'
import type { Surroundings } from './agents/agent.ts'

/** The machine as the caller sees it: its environment and its folder, not those of the process. */
export function surroundingsOf({
  env,
  cwd,
}: {
  readonly env: Surroundings['env']
  readonly cwd: string
}): Surroundings {
  return { env, cwd, home: env['HOME'] || env['USERPROFILE'] || homedir(), platform: host.platform }
}

import { findProgram } from '../../find-program.ts'
import type { EgressGrant } from '../../permissions/grants.ts'
import { runChild } from '../../run-child.ts'
import { withOutside } from '../trial.ts'
import { OF_SYSTEM } from '../tool/programs.ts'

const HOST = 'trial.test'
/** A port that needs a right to be listened on, as most servers have one. */
const LOW_PORT = 443
const TRIAL_TIME = 20_000

/** Finds out, by a run that talks to a server of ours, whether tools here can be let to exact servers. Resolves with the reason where they cannot. */
export async function tryEgress(path: string): Promise<Error | undefined> {
  try {
    return await withOutside(async ({ workspace, port }) => {
      let isMade = false
      const network = [port, LOW_PORT].map((each): EgressGrant => ({
        host: HOST,
        port: each,
        local: true,
      }))
      const end = await runChild({
        command: [
          findProgram('bash', OF_SYSTEM) ?? 'bash',
          '-c',
          `exec 3<>/dev/tcp/${HOST}/${port}; cat <&3`,
        ],
        cwd: workspace,
        env: { PATH: path, LC_ALL: 'C' },
        timeout: TRIAL_TIME,
        sandbox: {
          grants: { read: [], write: [], network, limits: {}, secrets: [] },
          workspace,
          readable: [],
          searchPath: path,
          onConnection: ({ address }) => {
            isMade ||= address !== undefined
          },
        },
      })
      return isMade
        ? undefined
        : (end.problem ??
            new Error(
              end.stderr.toString('utf8', 0, 300).trim().split('\n')[0]! ||
                'the tool reached nobody',
            ))
    })
  } catch (error) {
    return error as Error
  }
}

import { nodeVersion } from '../../../process/host.ts'
import { detect } from '../../../surfaces/install/agents/detect.ts'
import { listServers } from '../../../surfaces/install/mcp/list.ts'
import { SERVER_AGENTS } from '../../../surfaces/install/mcp/places.ts'
import { surroundingsOf } from '../../../surfaces/install/surroundings.ts'
import type { DoctorReport } from '../../../views/model/wire/others.ts'
import { diagnose } from '../../doctor/doctor.ts'
import type { Project } from '../project.ts'

/** The name under which this program stands in the configuration of agents. */
const PROGRAM = 'toolable'

/** How this machine and this project are, and which agents could use the tools. */
export async function reportHealth(
  { cwd, env }: Pick<Project, 'cwd' | 'env'>,
  version: string,
  disk: Promise<DoctorReport['disk']>,
): Promise<DoctorReport> {
  const [{ level, enough, findings }, agents, usage] = await Promise.all([
    diagnose({}, { cwd, env }),
    listAgents({ cwd, env }),
    disk,
  ])
  return { level, enough, findings, disk: usage, agents, version, node: nodeVersion }
}

async function listAgents(where: Pick<Project, 'cwd' | 'env'>): Promise<DoctorReport['agents']> {
  const here = surroundingsOf(where)
  const listed = await listServers(SERVER_AGENTS, ['project', 'user'], PROGRAM, undefined, here)
  return SERVER_AGENTS.map((agent) => {
    const installed = listed.some(
      ({ agent: name, state }) =>
        name === agent.name && (state === 'installed' || state === 'edited'),
    )
    return {
      name: agent.name,
      found: detect(agent, here) !== undefined,
      installed,
      ...(!installed && { command: `toolable mcp add --agent ${agent.name}` }),
    }
  })
}

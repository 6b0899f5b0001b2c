import { call } from '../../call/tool.ts'
import type { Tool } from '../../call/tool.ts'
import type { Registry } from '../../registry/registry-type.ts'
import { agentTool } from './agent-tool.ts'

/** What the runner calls for a run of an agent: there is only the one tool in it. */
export function agentHost(registry: Registry, artifacts: string): Pick<Registry, 'call'> {
  return {
    call: (_tool, input, options) =>
      call(agentTool({ registry, artifacts, secrets: options?.secrets }) as Tool, input, options),
  }
}

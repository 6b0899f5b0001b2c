import type { ToolError } from '../../../contract/tool-error.ts'
import type { ToolProfile } from '../profile.ts'
import type { Identity } from './identity.ts'
import type { NetworkHold } from './network-hold.ts'
import type { SandboxPrograms } from './programs.ts'

const ONLY_ITSELF = '127.0.0.1 localhost\n::1 localhost\n'

/** Opens the network that a tool was granted: none, the one of this machine, or exact servers. */
export async function openNetwork(
  { grants: { network }, onConnection }: ToolProfile,
  programs: SandboxPrograms,
  who: Identity,
): Promise<NetworkHold | ToolError> {
  if (network === 'open') return { isShared: true, release: () => {} }
  if (network === 'none' || network.length === 0)
    return { isShared: false, hosts: ONLY_ITSELF, release: () => {} }
  const { openEgress } = await import('../egress/open-egress.ts')
  return openEgress(network, programs, who, onConnection)
}

import type { ToolError } from '../../../contract/tool-error.ts'
import type { ToolProfile } from '../profile.ts'
import type { Identity } from './identity.ts'
import type { SandboxPrograms } from './wrap-command.ts'

/** What the network of a tool asks of its sandbox. */
export type NetworkHold = {
  /** Whether it is the network of this machine. */
  readonly isShared: boolean
  /** The content of /etc/hosts; absent where the names of the real machine count. */
  readonly hosts?: string
  /** The command in front of another that starts it in a network that is there already. `asRoot`: it is root who enters, and stays root. */
  readonly enter?: (asRoot: boolean) => readonly string[]
  /** When the tool is in its network. */
  readonly entered?: () => void
  /** When the tool is over; what it sent last is still passed on where it ended by itself. */
  release(hasEndedWell: boolean): void | Promise<void>
}

const ONLY_ITSELF = '127.0.0.1 localhost\n::1 localhost\n'

/** Opens the network that a tool was granted: none, the one of this machine, or exact servers. */
export async function openNetwork({ grants: { network }, onConnection }: ToolProfile, programs: SandboxPrograms, who: Identity): Promise<NetworkHold | ToolError> {
  if (network === 'open') return { isShared: true, release: () => {} }
  if (network === 'none' || network.length === 0) return { isShared: false, hosts: ONLY_ITSELF, release: () => {} }
  const { openEgress } = await import('../egress/open-egress.ts')
  return openEgress(network, programs, who, onConnection)
}

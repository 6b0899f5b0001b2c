import { ToolError } from '../../../contract/tool-error.ts'
import type { ToolProfile } from '../profile.ts'

/** What the network of a tool asks of its sandbox. */
export type NetworkHold = {
  /** Whether it is the network of this machine. */
  readonly isShared: boolean
  /** The content of /etc/hosts; absent where the names of the real machine count. */
  readonly hosts?: string
  /** Gets the process whose network namespace the tool will use, before the tool starts; the tool waits for it, and does not start where it throws. */
  readonly attach?: (pid: number) => Promise<void>
  /** When the tool is over. */
  release(): void
}

const ONLY_ITSELF = '127.0.0.1 localhost\n::1 localhost\n'

/** Opens the network that a tool was granted: none, the one of this machine, or exact servers. */
export function openNetwork({ grants: { network } }: ToolProfile): Promise<NetworkHold | ToolError> {
  return Promise.resolve(openAtOnce(network))
}

function openAtOnce(network: ToolProfile['grants']['network']): NetworkHold | ToolError {
  if (network === 'open') return { isShared: true, release: () => {} }
  if (network === 'none' || network.length === 0) return { isShared: false, hosts: ONLY_ITSELF, release: () => {} }
  return new ToolError('SANDBOX_UNAVAILABLE', `The sandbox of this version cannot let a tool talk to ${network.map(({ host, port }) => `${host}:${port}`).join(', ')} alone`, { suggestion: 'Run it with --allow-level L1 where you trust it with the whole network' })
}

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

import type { Host } from '../../surfaces/cli/host.ts'
import { redirectStrayOutput } from '../../surfaces/cli/stray-output.ts'

/** Milliseconds that a run has to end after a signal: the grace of its tool, and a little more. */
const FAREWELL = 15_000

/** Makes this process one that performs a run: stray output of tools stays off stdout, and a signal leaves the run time to end. */
export function prepareHost(host: Host, onCrash: (error: Error) => void = () => undefined): void {
  host.prepareForTools(redirectStrayOutput, { onCrash, farewell: FAREWELL })
}

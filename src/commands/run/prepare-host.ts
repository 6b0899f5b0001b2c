import type { RunRequest } from '../../runner/run-request.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import { redirectStrayOutput } from '../../surfaces/cli/stray-output.ts'

/** Milliseconds that a run has to end after a signal: the grace of its tool, and a little more. */
const FAREWELL = 15_000
/** The same for a workflow, which takes back what it did; a second signal ends it at once, and it can be resumed. */
const FAREWELL_OF_WORKFLOW = 3_600_000

/** Makes this process one that performs a run: stray output of tools stays off stdout, and a signal leaves the run time to end. */
export function prepareHost(host: Host, { onCrash = () => undefined, command }: { readonly onCrash?: (error: Error) => void } & Pick<RunRequest, 'command'> = {}): void {
  host.prepareForTools(redirectStrayOutput, { onCrash, farewell: command === 'workflow' ? FAREWELL_OF_WORKFLOW : FAREWELL })
}

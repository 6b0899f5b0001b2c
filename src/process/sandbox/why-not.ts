import { ToolError } from '../../contract/tool-error.ts'

/** Why bubblewrap makes no sandbox, from what it says: forbidden by the system, or something else. */
export function explainRefusal(words: string): ToolError {
  const isForbidden = /namespace|uid map|not permitted|permission denied/i.test(words)
  return noSandbox(
    isForbidden
      ? `this system forbids user namespaces (${words})`
      : `bubblewrap does not work here (${words})`,
    isForbidden
      ? 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 kernel.unprivileged_userns_clone=1'
      : 'Run it by hand: bwrap --unshare-all --ro-bind / / true',
  )
}

/** The one error of a machine that has no sandbox. */
export function noSandbox(why: string, fix: string): ToolError {
  return new ToolError('SANDBOX_UNAVAILABLE', `There is no sandbox: ${why}`, { suggestion: fix })
}

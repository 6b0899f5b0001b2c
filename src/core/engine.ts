/**
 * The lazy-load boundary: everything a call needs, loaded by the first call (`loadEngine` in
 * tool.ts). Programs that only print help never load it.
 */

/** What a call needs, as one late-loaded part: programs that only print help never load it. */
export { beginCall, invoke } from './invoke.ts'
export { listResources } from './resources.ts'
export { readResource, renderPrompt } from './resources.ts'
export { streamCall } from './events.ts'

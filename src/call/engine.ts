/** What a call needs, as one late-loaded part: programs that only print help never load it. */
export { begin, invoke } from './pipeline.ts'
export { listResources } from './list-resources.ts'
export { readResource, renderPrompt } from './read.ts'
export { streamCall } from './stream.ts'

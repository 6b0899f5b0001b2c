/** The promises of section 8 about the loop of model and tools. */
export const AGENT: { readonly [name: string]: string } = {
  'agent-loop':
    'An agent asks its model, runs the calls, and asks again until there is nothing left to call; it takes tools, a toolset, a registry with a filter, and a conversation that goes on.',
  'agent-bad-calls':
    'Arguments that are no JSON or do not fit, unknown tools, tools without a handler and tools that fail are told to the model with advice, and never end a run; every call has an id of its own.',
  'agent-endless':
    'A run ends after its turns, and a call that is repeated with the same answer gets advice.',
  'agent-ends':
    'An empty reply is asked for once more; an answer that was cut off or filtered is no success, and calls of a filtered one are not made.',
  'agent-outputs':
    'Outputs that are too long for a model are cut in the middle with a notice; pictures go along.',
  'agent-parallel':
    'Calls of read-only tools run side by side, others one after the other, messages stay in order; all or none on request.',
  'agent-approval':
    'A destructive tool runs only with consent: of approve, else of answer, else not at all.',
  'agent-budget':
    'A budget of tokens, calls or time ends a run in the middle, and says which; tokens that nobody tells are estimated.',
  'agent-cancel':
    'A signal cancels in the middle of what the model says or a tool does, lets go of connections, and leaves a conversation that can go on.',
  'agent-retries':
    'A failure of the model that may pass is tried again, as long as it says; others end the run as failed; run never throws for them.',
  'agent-events':
    'Events tell everything in order; leaving the stream cancels the run; an observer that throws ends it as failed.',
  'agent-transcript':
    'The transcript has messages and events as JSON lines for its owner only; one that cannot be written is a failure.',
  'agent-house': 'Tools of an agent share its state, guards and budget, and may use its model.',
  'agent-hostile':
    'Whatever a model writes (arguments of any size and depth, names and keys of prototypes) and whatever a tool throws is told to the model, and neither ends a run nor reaches beyond its call.',
  'agent-as-tool': 'An agent is a tool of another one.',
  'agent-misuse':
    'Options of an agent that make no sense are refused at once, with what to change.',
  'agent-sections':
    'With a prompt of sections, a section that the model opens is there in the next turn; guards refuse with advice; a prompt that cannot be evaluated ends the run as failed.',
  'agent-openai':
    'openaiModel speaks chat completions with and without streams: calls put together by index, usage, settings, tools and messages in their form.',
  'agent-openai-errors':
    '401, 400, 404 and a used-up quota are told at once with advice, 429 and 5xx are tried again as the server says; a redirect is not followed; the key is in no error, event or message.',
  'agent-openai-garbage':
    'Garbage, errors in the middle, silence and streams without an end are failures that may pass; a body without an end is given up.',
  'agent-openai-quirks':
    'Servers that leave out the index, repeat names, send objects, want thoughts back or tell no usage are understood.',
  'agent-cut':
    'A stream that is cut in the middle is asked for again: nothing was done, and nothing is said twice. A call whose arguments were cut off before they began is not made.',
  'agent-ai-sdk':
    'aiSdkModel takes any provider of the ai package, with and without streams, and shows it its own thoughts again.',
  'agent-ai-sdk-errors':
    'Errors of providers of the ai package say whether to try again; what is no language model is refused.',
  'agent-command':
    'toolable agent prints one envelope for programs, or every event with --stream; it is a run on record with its transcript as an artifact, and the key is nowhere in it.',
  'agent-command-text':
    'For people the words of the model come on stdout as it says them, and what it does on stderr.',
  'agent-command-errors':
    'No model, no key, no such package, file or tool, params that do not fit and flags that would do nothing are told before a run begins, with what to set; no tools at all are a warning.',
  'agent-command-models':
    'A model is openai:<name>, <package>:<name> of the project, or a file; a prompt module may bring the tools.',
  'agent-command-approval':
    'Consent comes from a person at the terminal, JSON lines, toolable answer or --yes.',
  'agent-command-cancel':
    'toolable cancel and --timeout end an agent while the model thinks or a tool works, and leave nothing behind.',
  'agent-secrets':
    'Secrets of calls and the key of the model are taken out of what tools answer, before the model, an event or a record gets it.',
  'agent-command-secrets':
    '--secret-file reaches the tools in the process of an agent; neither secrets nor the key are in what it says, writes down or tells its model.',
  'agent-command-policy':
    'A policy that demands permissions or a level speaks about the tools that an agent calls, not about the agent; with a prompt, whose tools it cannot look at, it refuses the run.',
  'agent-command-resume':
    'An agent whose turns were used up, or that was killed, goes on with its conversation by resume.',
}

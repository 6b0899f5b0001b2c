/** What the process does for a command that runs tools: guards are costly, so they are put up only then. */
export type Host = { readonly signal: AbortSignal; prepareForTools(redirectStrayOutput: () => void): void }

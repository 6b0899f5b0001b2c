export async function executeWorkflow(..._all: unknown[]): Promise<unknown> { return null }

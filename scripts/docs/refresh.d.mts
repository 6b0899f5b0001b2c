export declare function refreshPage(page: string): string

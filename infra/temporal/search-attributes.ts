import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';

/** Few, and ids only: they are readable by every operator. */
const KEYS = {
  OrganizationId: defineSearchAttributeKey('OrganizationId', SearchAttributeType.KEYWORD),
  PostId: defineSearchAttributeKey('PostId', SearchAttributeType.KEYWORD),
  OperationId: defineSearchAttributeKey('OperationId', SearchAttributeType.KEYWORD),
  Platform: defineSearchAttributeKey('Platform', SearchAttributeType.KEYWORD_LIST),
  OutcomeUnknown: defineSearchAttributeKey('OutcomeUnknown', SearchAttributeType.BOOL),
};

export function searchAttributePairs(values: Record<string, string | string[] | boolean>): SearchAttributePair[] {
  return Object.entries(values).map(([name, value]) => ({ key: KEYS[name as keyof typeof KEYS], value }) as SearchAttributePair);
}

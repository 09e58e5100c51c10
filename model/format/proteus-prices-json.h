/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PRICES_JSON_H
#define PROTEUS_PRICES_JSON_H

#include "ns3/proteus-network-cost.h"

#include <istream>
#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Reads a table of prices: "currency", "layout" (fields of RackLayout), "classes" (name, up_to_m;
 * the last one without), "items" (item, gbits_per_s, price, power_w, source) and, if GPUs are to be
 * paid for, "rents" (gpu, price_per_hour, source).
 * @param input the file
 * @param fileName for errors
 * @return the table
 * @throw std::invalid_argument of one line, "FILE: /items/0/price: cause"
 */
PriceTable ReadPricesJson(std::istream& input, const std::string& fileName);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PRICES_JSON_H

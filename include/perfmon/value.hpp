// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The value of a session's counter in C++, with the marks of perfmon/value.h.
#ifndef PERFMON_VALUE_HPP
#define PERFMON_VALUE_HPP

#include <cerrno>
#include <cstdint>
#include <ostream>
#include <perfmon/error.hpp>
#include <perfmon/session.h>
#include <perfmon/value.h>
#include <string>
#include <utility>

namespace perfmon
{

// What a counter has counted, with its marks. Printed, it is a number with its mark, or the reason
// why there is none.
class value
{
      public:
	value(std::string name, std::string unit, double scale, const perfmon_value &raw)
	    : name_(std::move(name)), unit_(std::move(unit)), scale_(scale), raw_(raw)
	{
	}
	// The event, as "page-faults:u".
	const std::string &name() const noexcept
	{
		return name_;
	}
	// The unit of estimate() * scale(), "" for a plain count.
	const std::string &unit() const noexcept
	{
		return unit_;
	}
	double scale() const noexcept
	{
		return scale_;
	}
	// As the C interface has it: index, PERFMON_VALUE_ bits, register and times.
	const perfmon_value &raw() const noexcept
	{
		return raw_;
	}
	// Whether the event was counted all the time, and everywhere.
	bool whole() const noexcept
	{
		return (raw_.status & PERFMON_VALUE_COUNTED) && !(raw_.status & lacking);
	}
	// The count. Throws ENODATA where it is not whole.
	std::uint64_t count() const
	{
		if (!whole())
			fail(-ENODATA, why());
		return raw_.value;
	}
	// The count, or what it would be if the event had been on the hardware all the time.
	// Throws ENODATA where it was on for none of it.
	double estimate() const
	{
		double number = static_cast<double>(raw_.value);

		if (raw_.status & PERFMON_VALUE_COUNTED)
			return number;
		if (!(raw_.status & PERFMON_VALUE_MULTIPLEXED) || !raw_.running_ns)
			fail(-ENODATA, why());
		return number * static_cast<double>(raw_.enabled_ns) /
		       static_cast<double>(raw_.running_ns);
	}
	// Why the count is not whole, in one sentence; "" if it is.
	std::string why() const
	{
		const char *reason = mark();

		return *reason ? "event '" + name_ + "' " + reason : std::string();
	}

	friend std::ostream &operator<<(std::ostream &out, const value &of)
	{
		const char *reason = of.mark();

		if (!(of.raw_.status &
		      (PERFMON_VALUE_COUNTED | PERFMON_VALUE_MULTIPLEXED)))
			return out << of.name_ << ' ' << reason;
		if (of.raw_.status & PERFMON_VALUE_MULTIPLEXED)
			out << '~';
		if (of.raw_.status & PERFMON_VALUE_COUNTED && !(of.scale_ < 1) &&
		    !(of.scale_ > 1))
			out << of.raw_.value;
		else
			out << of.estimate() * of.scale_;
		if (!of.unit_.empty())
			out << ' ' << of.unit_;
		out << ' ' << of.name_;
		return *reason ? out << " (" << reason << ')' : out;
	}

      private:
	static constexpr std::uint32_t lacking =
		PERFMON_VALUE_UNCERTAIN | PERFMON_VALUE_PARTIAL | PERFMON_VALUE_THROTTLED;

	const char *mark() const noexcept
	{
		if (raw_.status & PERFMON_VALUE_NEVER_OPENED)
			return "was never opened";
		if (raw_.status & PERFMON_VALUE_NOT_COUNTED)
			return "was not counted: no counter was free";
		if (raw_.status & PERFMON_VALUE_MULTIPLEXED)
			return "is an estimate: it was multiplexed";
		if (!(raw_.status & PERFMON_VALUE_COUNTED))
			return "was not counted: the session was not started";
		if (raw_.status & PERFMON_VALUE_PARTIAL)
			return "lacks targets that refused it";
		if (raw_.status & PERFMON_VALUE_THROTTLED)
			return "lacks what happened while the kernel held it back";
		return raw_.status & PERFMON_VALUE_UNCERTAIN ? "may lack threads" : "";
	}

	std::string name_, unit_;
	double scale_;
	perfmon_value raw_;
};

} // namespace perfmon

#endif
